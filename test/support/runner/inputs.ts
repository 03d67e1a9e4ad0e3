// The inputs of a run: what the event gives, checked against what the workflow declares.
import type { InputConfig } from "@actions/workflow-parser/model/workflow-template";
import type { Value } from "./expression.js";
import type { RunEvent } from "./options.js";
import type { WorkflowPlan } from "./workflow.js";

export interface EventInputs {
  /** The `inputs` context, where booleans are booleans. */
  values: Record<string, Value>;
  /** `github.event.inputs`, where all is text. */
  texts: Record<string, string>;
}

/** @throws when the workflow does not run on this event, or would not take these inputs. */
export function inputsOfEvent(plan: WorkflowPlan, event: RunEvent): EventInputs {
  const given = event.inputs ?? {};
  if (!(event.name in plan.events)) throw new Error(`${plan.path} has no '${event.name}' trigger`);
  const declared = (event.name === "workflow_dispatch" && plan.events.workflow_dispatch?.inputs) || {};
  const unexpected = Object.keys(given).filter((name) => !(name in declared));
  if (unexpected.length > 0) throw new Error(`Unexpected inputs provided: ${JSON.stringify(unexpected)}`);
  const values = Object.fromEntries(
    Object.entries(declared).map(([name, config]) => [name, checkedValue(name, config, given[name])]),
  );
  return {
    values,
    texts: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])),
  };
}

function checkedValue(
  name: string,
  config: InputConfig,
  given: string | number | boolean | undefined,
): Value {
  const value = given ?? config.default;
  if (value === undefined || value === "") {
    if (config.required) throw new Error(`Required input '${name}' not provided`);
    return config.type === "boolean" ? false : "";
  }
  if (config.type === "choice" && config.options && !config.options.includes(String(value)))
    throw new Error(`Provided value '${value}' for input '${name}' not in the list of allowed values`);
  return config.type === "boolean" ? String(value) === "true" : value;
}
