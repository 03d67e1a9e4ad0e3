/** Workflow runs, workflows, and what was dispatched and cancelled. */
import type { Repository } from "./repository.js";

export interface RunOptions {
  id: number;
  attempt?: number;
  status?: string;
  conclusion?: string | null;
  /** Path of the workflow file. */
  workflow?: string;
  event?: string;
  branch?: string;
  sha?: string;
  actor?: string;
  name?: string;
}

export interface Run extends Required<Omit<RunOptions, "conclusion">> {
  conclusion: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface Workflow {
  id: number;
  path: string;
  name: string;
  state: string;
  /** Whether it may be dispatched, and the inputs it declares; null where that is not known. */
  dispatchable: boolean;
  inputs: readonly string[] | null;
}

export interface Dispatch {
  repository: string;
  workflow: string;
  ref: string;
  inputs: Record<string, unknown>;
  token: string | null;
  runId: number;
  at: number;
}

export interface Cancellation {
  repository: string;
  run: number;
  force: boolean;
  token: string | null;
  at: number;
}

export class Runs {
  readonly dispatches: Dispatch[] = [];
  readonly cancellations: Cancellation[] = [];
  readonly #attempts = new Map<number, Run[]>();
  readonly #declared = new Map<string, Omit<Workflow, "id">>();
  readonly #ids = new Map<string, number>();

  constructor(readonly repository: Repository) {}

  /** Adds a run, or a further attempt of one. */
  add(options: RunOptions): Run {
    const now = this.repository.clock.iso();
    const attempts = this.#attempts.get(options.id) ?? [];
    const run: Run = {
      attempt: attempts.length + 1,
      status: "in_progress",
      conclusion: null,
      workflow: ".github/workflows/ci.yml",
      event: "workflow_dispatch",
      branch: this.repository.defaultBranch,
      sha: "0".repeat(40),
      actor: "octocat",
      name: "CI",
      ...options,
      createdAt: now,
      updatedAt: now,
    };
    this.#attempts.set(run.id, [...attempts.filter(({ attempt }) => attempt !== run.attempt), run]);
    return run;
  }

  finish(id: number, conclusion = "success", attempt?: number): void {
    const run = this.find(id, attempt);
    if (run === null) throw new Error(`no run ${id}`);
    Object.assign(run, { status: "completed", conclusion, updatedAt: this.repository.clock.iso() });
  }

  /** The newest attempt, or the one that is named. */
  find(id: number, attempt?: number): Run | null {
    const attempts = this.#attempts.get(id) ?? [];
    const newest = attempts.toSorted((a, b) => b.attempt - a.attempt)[0];
    return (attempt === undefined ? newest : attempts.find((run) => run.attempt === attempt)) ?? null;
  }

  nextId(): number {
    return Math.max(9_000_000_000, ...this.#attempts.keys()) + 1;
  }

  /** Makes a workflow known without a file in the repository, or with the inputs that it declares. */
  declare(path: string, options: Partial<Omit<Workflow, "id" | "path">> = {}): void {
    this.#declared.set(path, {
      path,
      name: path,
      state: "active",
      dispatchable: true,
      inputs: null,
      ...options,
    });
  }

  /** The workflows of the default branch, and those that were declared. */
  async workflows(): Promise<Workflow[]> {
    const { objects, defaultBranch } = this.repository;
    const folder = await objects.read(`refs/heads/${defaultBranch}:.github/workflows`);
    const found = new Map<string, Omit<Workflow, "id">>();
    for (const entry of folder?.type === "tree" ? ((await objects.tree(folder.oid)) ?? []) : []) {
      if (!/\.ya?ml$/.test(entry.name)) continue;
      const path = `.github/workflows/${entry.name}`;
      const text = (await objects.read(entry.oid))?.content.toString() ?? "";
      const name = /^name:\s*["']?(.+?)["']?\s*$/m.exec(text)?.[1] ?? path;
      found.set(path, {
        path,
        name,
        state: "active",
        dispatchable: /\bworkflow_dispatch\b/.test(text),
        inputs: null,
      });
    }
    for (const [path, workflow] of this.#declared) found.set(path, workflow);
    return [...found.values()].map((workflow) => ({ ...workflow, id: this.#idOf(workflow.path) }));
  }

  #idOf(path: string): number {
    const id = this.#ids.get(path) ?? 5_000_001 + this.#ids.size;
    this.#ids.set(path, id);
    return id;
  }
}
