/** The refs of one bare repository: reads, one transaction per write, and what each ref was before. */
import { GitFailed, git } from "./git.js";
import type { Objects } from "./objects.js";

export const ZERO = "0".repeat(40);

/** `before`: null for a ref that must not exist, undefined for whatever is there. `after`: null removes it. */
export interface RefMove {
  ref: string;
  before?: string | null | undefined;
  after: string | null;
}

export interface RefValue {
  ref: string;
  oid: string;
  type: string;
}

/** What a reader sees: the refs as they are, or each as it was before its last change. */
export interface RefView {
  get(ref: string): Promise<RefValue | null>;
  list(prefix: string): Promise<RefValue[]>;
}

export class Refs implements RefView {
  readonly #known = new Map<string, string>();
  readonly #previous = new Map<string, string | null>();

  constructor(
    readonly dir: string,
    readonly objects: Objects,
  ) {}

  async get(ref: string): Promise<RefValue | null> {
    if (!isRefName(ref)) return null;
    const object = await this.objects.read(ref);
    return object === null ? null : { ref, oid: object.oid, type: object.type };
  }

  async list(prefix: string): Promise<RefValue[]> {
    const out = await git(this.dir, ["for-each-ref", "--format=%(objectname) %(objecttype) %(refname)"]);
    const all = out.toString().split("\n").filter(Boolean).map(parseLine);
    return all.filter(({ ref }) => ref.startsWith(prefix));
  }

  /** All moves or none, in one `git update-ref` transaction; otherwise git's own words for what stood in the way. */
  async move(moves: readonly RefMove[]): Promise<{ refused: string } | null> {
    const lines = moves.flatMap((move) => ["option no-deref", instruction(move)]);
    try {
      await git(this.dir, ["update-ref", "--stdin"], {
        input: ["start", ...lines, "prepare", "commit", ""].join("\n"),
      });
    } catch (error) {
      if (error instanceof GitFailed) return { refused: error.stderr.trim() };
      throw error;
    }
    for (const { ref, after } of moves) this.#remember(ref, after);
    return null;
  }

  /** Whether `ancestor` is reached from `tip`; a direct parent is answered without a process. */
  async isAncestor(ancestor: string, tip: string): Promise<boolean> {
    if (ancestor === tip) return true;
    const commit = await this.objects.commit(tip);
    if (commit?.parents.includes(ancestor) === true) return true;
    try {
      await git(this.dir, ["merge-base", "--is-ancestor", ancestor, tip]);
      return true;
    } catch (error) {
      if (error instanceof GitFailed && error.code === 1) return false;
      throw error;
    }
  }

  /** Notes what a push changed, which git itself has written. */
  async observe(): Promise<void> {
    const now = new Map((await this.list("")).map(({ ref, oid }) => [ref, oid]));
    for (const ref of [...this.#known.keys()]) if (!now.has(ref)) this.#remember(ref, null);
    for (const [ref, oid] of now) this.#remember(ref, oid);
  }

  /** The refs as a lagging replica shows them: the named ones (or all) one change behind. */
  stale(only?: readonly string[]): RefView {
    const lags = (ref: string) => this.#previous.has(ref) && (only === undefined || only.includes(ref));
    const earlier = async (ref: string): Promise<RefValue | null> => {
      const oid = this.#previous.get(ref) ?? null;
      const object = oid === null ? null : await this.objects.read(oid);
      return object === null ? null : { ref, oid: object.oid, type: object.type };
    };
    return {
      get: (ref) => (lags(ref) ? earlier(ref) : this.get(ref)),
      list: async (prefix) => {
        const names = new Set((await this.list(prefix)).map(({ ref }) => ref));
        for (const ref of this.#previous.keys()) if (ref.startsWith(prefix)) names.add(ref);
        const seen = await Promise.all(
          [...names].sort().map((ref) => (lags(ref) ? earlier(ref) : this.get(ref))),
        );
        return seen.filter((one) => one !== null);
      },
    };
  }

  #remember(ref: string, oid: string | null): void {
    const before = this.#known.get(ref) ?? null;
    if (before === oid) return;
    this.#previous.set(ref, before);
    if (oid === null) this.#known.delete(ref);
    else this.#known.set(ref, oid);
  }
}

/** A line of `git update-ref --stdin`. */
function instruction({ ref, before, after }: RefMove): string {
  if (after !== null) return `update ${ref} ${after}${before === undefined ? "" : ` ${before ?? ZERO}`}`;
  if (before === null) return `verify ${ref} ${ZERO}`;
  return `delete ${ref}${before === undefined ? "" : ` ${before}`}`;
}

function parseLine(line: string): RefValue {
  const [oid = "", type = "", ref = ""] = line.split(" ");
  return { ref, oid, type };
}

/** The rules of `git check-ref-format` for a fully qualified name of at least three parts. */
export function isRefName(ref: string): boolean {
  const parts = ref.split("/");
  return (
    parts.length >= 3 &&
    parts[0] === "refs" &&
    parts.every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock")) &&
    !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(ref)
  );
}
