/** One repository: a bare git repository with what GitHub keeps beside it, and the doors that tests use. */
import { spawn } from "node:child_process";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "./clock.js";
import { finish, git, gitEnvironment } from "./git.js";
import { Issues } from "./issues.js";
import { type Commit, EMPTY_TREE, type Identity, Objects, type PathChange } from "./objects.js";
import { Protection } from "./protection.js";
import { HIDDEN } from "./ref-updates.js";
import { Refs } from "./refs.js";
import { Runs } from "./runs.js";

export interface RepositoryOptions {
  private?: boolean;
  defaultBranch?: string;
}

/** Content by path; null removes the path. */
export type Files = Record<string, string | Buffer | null>;

/** What github.com allows, and nothing that would run behind a test's back. */
const SETTINGS = `
[receive]
	advertisePushOptions = true
	autogc = false
${HIDDEN.map((prefix) => `\thideRefs = ${prefix.slice(0, -1)}\n`).join("")}	hideRefs = !refs/__gh__/svn
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[gc]
	auto = 0
`;

export class Repository {
  readonly objects: Objects;
  readonly refs: Refs;
  readonly protection = new Protection();
  readonly issues = new Issues();
  readonly runs: Runs;

  private constructor(
    readonly id: number,
    readonly owner: string,
    readonly name: string,
    readonly dir: string,
    readonly isPrivate: boolean,
    readonly defaultBranch: string,
    readonly clock: Clock,
  ) {
    this.objects = new Objects(dir);
    this.refs = new Refs(dir, this.objects);
    this.runs = new Runs(this);
  }

  static async create(
    id: number,
    fullName: string,
    dir: string,
    clock: Clock,
    options: RepositoryOptions = {},
  ): Promise<Repository> {
    const [owner = "", name = ""] = fullName.split("/");
    const branch = options.defaultBranch ?? "main";
    await mkdir(dir, { recursive: true });
    const args = ["init", "--quiet", "--bare", `--initial-branch=${branch}`, dir];
    await finish(spawn("git", args, { env: gitEnvironment() }), args);
    await appendFile(join(dir, "config"), SETTINGS);
    return new Repository(id, owner, name, dir, options.private ?? true, branch, clock);
  }

  get fullName(): string {
    return `${this.owner}/${this.name}`;
  }

  /** The first commit on the default branch. */
  seed({ files, message = "Initial commit" }: { files: Files; message?: string }): Promise<string> {
    return this.commit(this.defaultBranch, files, message);
  }

  /** Adds a commit to a branch, which is created from nothing where it does not exist. */
  async commit(branch: string, files: Files, message: string): Promise<string> {
    const ref = fullRef(branch);
    const before = (await this.refs.get(ref))?.oid ?? null;
    const base = before === null ? null : ((await this.objects.commit(before))?.tree ?? null);
    const tree = await this.#treeWith(base, files);
    const who = this.identity("The Octocat", "octocat@users.noreply.github.com");
    const parents = before === null ? [] : [before];
    const oid = await this.objects.writeCommit({ tree, parents, author: who, committer: who, message });
    const lost = await this.refs.move([{ ref, before, after: oid }]);
    if (lost !== null) throw new Error(`cannot commit to ${ref}: ${lost.refused}`);
    return oid;
  }

  /** Sets a ref whatever it was, as an administrator of the server could; null removes it. */
  async force(ref: string, oid: string | null): Promise<void> {
    const lost = await this.refs.move([{ ref: fullRef(ref), after: oid }]);
    if (lost !== null) throw new Error(`cannot set ${ref}: ${lost.refused}`);
  }

  /** Sets the repository's git configuration, such as `receive.advertiseAtomic` to `false`. */
  async configure(key: string, value: string): Promise<void> {
    await git(this.dir, ["config", key, value]);
  }

  /** The object at a ref; a short name means a branch. */
  async tip(ref: string): Promise<string | null> {
    return (await this.refs.get(fullRef(ref)))?.oid ?? null;
  }

  /** The commits of a ref along first parents, newest first. */
  async log(ref: string): Promise<Commit[]> {
    const commits: Commit[] = [];
    for (let oid = await this.tip(ref); oid !== null; ) {
      const commit: Commit | null = await this.objects.commit(oid);
      if (commit === null) break;
      commits.push(commit);
      oid = commit.parents[0] ?? null;
    }
    return commits;
  }

  /** The text of a file at a ref, or null. */
  async file(ref: string, path: string): Promise<string | null> {
    const blob = await this.objects.read(`${fullRef(ref)}:${path}`);
    return blob?.type === "blob" ? blob.content.toString() : null;
  }

  identity(name: string, email: string): Identity {
    return { name, email, seconds: this.clock.seconds(), zone: "+0000" };
  }

  close(): void {
    this.objects.close();
  }

  async #treeWith(base: string | null, files: Files): Promise<string> {
    const changes: PathChange[] = [];
    for (const [path, content] of Object.entries(files)) {
      const oid = content === null ? null : await this.objects.write("blob", content);
      changes.push({ path, mode: "100644", oid });
    }
    if (changes.length > 0) return this.objects.changeTree(base, changes);
    // An empty commit keeps its parent's tree; the first one has none, and git knows the empty tree unwritten.
    return base ?? EMPTY_TREE;
  }
}

export function fullRef(name: string): string {
  return name.startsWith("refs/") ? name : `refs/heads/${name}`;
}
