// The first characters of many blobs, as one `git cat-file --batch` streams them.
import type { PrivateRepository } from "../git/private.js";
import { lastWords } from "../git/program.js";
import { longestFrontMatter } from "../protocol/front-matter.js";
import type { Oid } from "../protocol/record.js";
import { StoreUnavailable } from "../store/store.js";

/** A blob's first characters, or why there are none. */
export type Head = string | { problem: string };

/** UTF-8 takes four bytes for a character at the most. */
const most = longestFrontMatter * 4;

/** Of each blob no more is kept than front matter can be long, whatever its size. */
export async function readHeads(
  repository: PrivateRepository,
  blobs: readonly Oid[],
  signal?: AbortSignal,
): Promise<Map<Oid, Head>> {
  const heads = new Map<Oid, Head>();
  const wanted = [...new Set(blobs)];
  if (wanted.length === 0) return heads;
  const batch = new Batch((oid, bytes, whole) => heads.set(oid, textOf(bytes, whole)));
  const reply = await repository.run(["cat-file", "--batch"], {
    input: `${wanted.join("\n")}\n`,
    signal,
    onOutput: (chunk) => batch.take(chunk),
  });
  if (reply.code !== 0)
    throw new StoreUnavailable(`The drafts could not be read: ${lastWords(reply.stderr)}. Try again.`);
  for (const oid of wanted) if (!heads.has(oid)) heads.set(oid, { problem: "its content is missing" });
  return heads;
}

function textOf(bytes: Buffer, whole: boolean): Head {
  if (bytes.includes(0)) return { problem: "it is not a text file" };
  try {
    // Where it was cut, the last character may be half there.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !whole });
  } catch {
    return { problem: "it is not UTF-8 text" };
  }
}

/** Takes the stream apart: a line `<oid> blob <size>`, the content, a line feed; and again. */
class Batch {
  private line = "";
  private oid = "";
  private kept: Buffer[] = [];
  private keep = 0;
  /** Bytes of the content and its line feed still to come; 0 while a line is read. */
  private left = 0;
  private size = 0;

  constructor(private readonly done: (oid: Oid, bytes: Buffer, whole: boolean) => void) {}

  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at = this.left > 0 ? this.content(chunk, at) : this.head(chunk, at);
  }

  private head(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(0x0a, at);
    this.line += chunk.toString("latin1", at, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    const [oid = "", type, size] = this.line.split(" ");
    this.line = "";
    if (type === "blob" && size !== undefined) {
      this.oid = oid;
      this.size = Number(size);
      this.left = this.size + 1;
      this.keep = Math.min(this.size, most);
      this.kept = [];
    }
    return end + 1;
  }

  private content(chunk: Buffer, at: number): number {
    const part = chunk.subarray(at, at + this.left);
    if (this.keep > 0) {
      // A copy, since a slice would keep the whole chunk.
      this.kept.push(Buffer.from(part.subarray(0, this.keep)));
      this.keep -= Math.min(this.keep, part.length);
    }
    this.left -= part.length;
    if (this.left === 0) this.done(this.oid, Buffer.concat(this.kept), this.size <= most);
    return at + part.length;
  }
}
