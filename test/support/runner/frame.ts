// Where steps run: the job itself, or one run of a composite action in it.
import type { JobState, JobStatus } from "./job-state.js";
import type { Conclusion } from "./result.js";
import type { StepRun, StepTask } from "./step.js";

/** What `steps.*` sees. */
export type StepsContext = Record<
  string,
  { outputs: Record<string, string>; outcome: Conclusion; conclusion: Conclusion }
>;

export interface Frame {
  job: JobState;
  steps: StepsContext;
  /** Takes a post step; the last one taken runs first. */
  registerPost(task: StepTask): void;
  /** Absent in the job's own frame. */
  composite?: {
    inputs: Record<string, string>;
    folder: string;
    /** Of its steps so far: what `success()` and `failure()` ask inside it. */
    status: JobStatus;
    /** The step that the action is, whose log its steps share. */
    parent: StepRun;
  };
}
