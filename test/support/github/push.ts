/** The receive-pack protocol as far as the server must read and write it: commands in, reports out. */

export interface Command {
  before: string;
  after: string;
  ref: string;
}

export interface Push {
  commands: Command[];
  capabilities: string[];
  /** Push options and pack: everything after the commands. */
  rest: Buffer;
  /** The pack alone. */
  pack: Buffer;
  atomic: boolean;
}

/** One pkt-line at a position; a flush has no payload. */
function packet(body: Buffer, at: number): { payload: Buffer | null; next: number } {
  const length = Number.parseInt(body.subarray(at, at + 4).toString(), 16);
  if (Number.isNaN(length) || at + 4 > body.length) throw new Error(`no pkt-line at ${at}`);
  if (length < 4) return { payload: null, next: at + 4 };
  return { payload: body.subarray(at + 4, at + length), next: at + length };
}

/** Reads the packets up to the next flush. */
export function packets(body: Buffer, from = 0): { payloads: Buffer[]; next: number } {
  const payloads: Buffer[] = [];
  for (let at = from; at < body.length; ) {
    const { payload, next } = packet(body, at);
    at = next;
    if (payload === null) return { payloads, next: at };
    payloads.push(payload);
  }
  return { payloads, next: body.length };
}

/** The push in a request's body; null for the probe that git sends before a large one. */
export function parsePush(body: Buffer): Push | null {
  const { payloads, next } = packets(body);
  const commands: Command[] = [];
  let capabilities: string[] = [];
  for (const payload of payloads) {
    const [line = "", rest] = payload.toString().replace(/\n$/, "").split("\0");
    if (rest !== undefined) capabilities = rest.trim().split(" ");
    const [before = "", after = "", ref = ""] = line.split(" ");
    if (before !== "shallow") commands.push({ before, after, ref });
  }
  if (commands.length === 0) return null;
  const packAt = capabilities.includes("push-options") ? packets(body, next).next : next;
  return {
    commands,
    capabilities,
    rest: body.subarray(next),
    pack: body.subarray(packAt),
    atomic: capabilities.includes("atomic"),
  };
}

function pkt(payload: string | Buffer): Buffer {
  const content = Buffer.from(payload);
  return Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, "0")), content]);
}

const FLUSH = Buffer.from("0000");

/** The same push with only some of its commands. */
export function withCommands(push: Push, commands: readonly Command[]): Buffer {
  const lines = commands.map(({ before, after, ref }, i) =>
    pkt(`${before} ${after} ${ref}${i === 0 ? `\0 ${push.capabilities.join(" ")}` : ""}`),
  );
  return Buffer.concat([...lines, FLUSH, push.rest]);
}

export interface Report {
  /** Lines for people, shown as `remote: …`. */
  lines: string[];
  /** Why each ref was refused. */
  reasons: Map<string, string>;
}

/** A report that fails all refs for one reason, or says nothing of any. */
export function failureReport(push: Push, reason: string | null, lines: readonly string[]): Buffer {
  const status = reason === null ? [] : push.commands.map(({ ref }) => `ng ${ref} ${reason}\n`);
  return wrap(push, lines, encode(["unpack ok\n", ...status]));
}

/** A report that refuses refs, in the form that the client asked for. */
export function refusalReport(push: Push, report: Report): Buffer {
  const status = push.commands.map(({ ref }) => {
    const reason = report.reasons.get(ref);
    return pkt(reason === undefined ? `ok ${ref}\n` : `ng ${ref} ${reason}\n`);
  });
  return wrap(push, report.lines, Buffer.concat([pkt("unpack ok\n"), ...status, FLUSH]));
}

/** Adds refused refs to what receive-pack reported about the others. */
export function mergeReport(push: Push, answer: Buffer, report: Report): Buffer {
  const { words, status } = unwrap(push, answer);
  const refused = [...report.reasons].map(([ref, reason]) => `ng ${ref} ${reason}\n`);
  return wrap(push, [...words, ...report.lines], encode([...status, ...refused]));
}

/**
 * Says of a ref that lost a race what github.com says beside it, and git only among its words:
 * `cannot lock ref 'refs/heads/main': is at X but expected Y`.
 */
export function tellLocks(push: Push, answer: Buffer): Buffer {
  const { words, status } = unwrap(push, answer);
  const locks = new Map<string, string>();
  for (const [, text = "", ref = ""] of words
    .join("\n")
    .matchAll(/^error: (cannot lock ref '([^']+)'.*)$/gm)) {
    locks.set(ref, text);
  }
  if (locks.size === 0) return answer;
  const told = status.map((line) => {
    const [word, ref = ""] = line.trimEnd().split(" ");
    const lock = locks.get(ref);
    return word === "ng" && lock !== undefined ? `ng ${ref} ${lock}\n` : line;
  });
  return wrap(push, words, encode(told));
}

/** What receive-pack answered: its words for people, and its report. */
function unwrap(push: Push, answer: Buffer): { words: string[]; status: string[] } {
  if (!push.capabilities.includes("side-band-64k")) {
    return { words: [], status: packets(answer).payloads.map(String) };
  }
  const { payloads } = packets(answer);
  const band = (number: number) =>
    Buffer.concat(payloads.filter((one) => one[0] === number).map((one) => one.subarray(1)));
  const status = packets(band(1)).payloads.map(String);
  return { words: band(2).toString().split("\n").filter(Boolean), status };
}

function encode(status: readonly string[]): Buffer {
  return Buffer.concat([...status.map(pkt), FLUSH]);
}

function wrap(push: Push, lines: readonly string[], status: Buffer): Buffer {
  if (!push.capabilities.includes("side-band-64k")) return status;
  const words = lines.map((line) => pkt(Buffer.from(`\x02${line}\n`)));
  return Buffer.concat([...words, pkt(Buffer.concat([Buffer.from([1]), status])), FLUSH]);
}
