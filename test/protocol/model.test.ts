// Every order of events for two claimants, a person and a bad network: the real rules hold, each weakened form fails.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../src/protocol/claim.js";
import {
  acquire,
  isMine,
  type LeaseWrite,
  leaseMessage,
  leaseRecordName,
  longestChain,
  type Ownership,
  readLease,
  type SeenLease,
  succeed,
  unlock,
} from "../../src/protocol/lease.js";
import type { Oid } from "../../src/protocol/record.js";

/** How a form of the protocol guards itself. The first value of each is the real one. */
interface Form {
  /**
   * What the destination asks of a push. `atomic`: it moves together with the lease. `none`: nothing. `verified`:
   * the client looks at the lease before, and the push leaves it unchanged. `apart`: both are sent, and the branch moves
   * even if the lease does not. `number`: its token is not below the highest one accepted.
   */
  fence: "atomic" | "none" | "verified" | "apart" | "number";
  nonce: "fresh" | "none";
  unlock: "advances" | "deletes";
  lostReply: "read again" | "success";
  owner: "token and claim" | "claim";
  /** `shared`: both claimants have one identity, as when it is made of the actor and the run alone. */
  identity: "own" | "shared";
}

const real: Form = {
  fence: "atomic",
  nonce: "fresh",
  unlock: "advances",
  lostReply: "read again",
  owner: "token and claim",
  identity: "own",
};

/**
 * S1: no acquisition returns a token twice. S2: tokens rise along the acquisitions. S3: no push of a superseded claim
 * is accepted. S4: no push is accepted after one of a later acquisition.
 */
type Rule = "S1" | "S2" | "S3" | "S4";

type Who = 0 | 1;

type Claimant =
  | { at: "idle" }
  /** It sent the write that would make it the holder, and is `waiting` for the reply or `unsure` after hearing none. */
  | { at: "waiting" | "unsure"; write: Oid }
  /** `tip`: the last record of its own that it knows. */
  | { at: "holding"; acquisition: Oid; token: number; tip: Oid };

/** A write on its way. It may arrive at any time, in any order, after its sender died, or never. */
interface Message {
  from: Who;
  kind: "acquire" | "renew" | "release" | "push" | "checked push";
  write: Oid;
  acquisition: Oid;
  token: number;
}

interface State {
  /** The tip of the lease's ref. */
  tip: Oid | null;
  claimants: readonly [Claimant, Claimant];
  wire: readonly Message[];
  /** Commits that may still be made: the bound of the exploration, and what makes nonces fresh. */
  left: number;
  /** The acquisition in force: what a push must belong to. Kept apart from the records, so as to judge them. */
  owner: Oid | null;
  /** Every acquisition that the store took, in order. */
  acquisitions: readonly Oid[];
  /** Tokens that acquisitions returned to their claimants. */
  returned: readonly number[];
  /** How many acquisitions there were up to the one whose push the destination accepted last, and its token. */
  accepted: { acquisition: number; token: number };
}

interface Step {
  label: string;
  state: State;
  breaches?: Rule[];
}

/** The most messages on their way at once. */
const widest = 2;
const ttl = 60_000;
const names = ["A", "B"] as const;

/** All commits, by the hash of their content: equal contents are one commit. */
class Commits {
  #seen = new Map<Oid, SeenLease>();
  #numbers = new Map<Oid, number>();
  #answers = new Map<string, Oid>();

  make(write: LeaseWrite): Oid {
    const parents = write.root || write.expected === null ? [] : [write.expected];
    const message = leaseMessage(write.record);
    const oid = createHash("sha1").update(`${parents.join()}\n${message}`).digest("hex");
    if (!this.#seen.has(oid)) {
      const name = leaseRecordName(write.record.name);
      this.#seen.set(oid, readLease({ name, oid, writtenAt: 0, parents, message }) as SeenLease);
    }
    return oid;
  }

  /** The commit that a rule decides on. The same question is put to the rule once. */
  once(question: string, rule: () => LeaseWrite | null): Oid {
    const known = this.#answers.get(question);
    if (known !== undefined) return known;
    const write = rule();
    if (write === null) throw new Error(`no write follows: ${question}`);
    const oid = this.make(write);
    this.#answers.set(question, oid);
    return oid;
  }

  get(oid: Oid): SeenLease {
    return this.#seen.get(oid) as SeenLease;
  }

  /** A short name for a commit. */
  number(oid: Oid | null): number {
    if (oid === null) return -1;
    const number = this.#numbers.get(oid) ?? this.#numbers.size;
    this.#numbers.set(oid, number);
    return number;
  }
}

/** What may happen next. Nothing depends on time: a lease may count as expired at any moment. */
class Model {
  constructor(
    readonly form: Form,
    readonly commits = new Commits(),
  ) {}

  steps(state: State): Step[] {
    const sent = ([0, 1] as const).flatMap((who) => this.#claimant(state, who));
    const arrived = state.wire.flatMap((message, i) => {
      const rest = { ...state, wire: state.wire.filter((_, j) => j !== i) };
      return [...this.#arrive(rest, message), { label: `${told(message)} is lost`, state: rest }];
    });
    return [...sent, ...arrived, ...this.#person(state)];
  }

  #claimant(state: State, who: Who): Step[] {
    const me = state.claimants[who];
    const crash = { label: `${names[who]} crashes`, state: become(state, who, { at: "idle" }) };
    switch (me.at) {
      case "idle":
        return this.#ask(state, who);
      case "waiting":
        return [this.#hearNothing(state, who, me.write), crash];
      case "unsure":
        return [this.#readAgain(state, who, me.write), crash];
      case "holding":
        return [...this.#hold(state, who, me), crash];
    }
  }

  #ask(state: State, who: Who): Step[] {
    if (!mayWrite(state)) return [];
    const nonce = this.#nonce(state);
    const write = this.commits.once(`${who} acquire ${nonce} ${state.tip}`, () => {
      const ask = { lease: "blog-main", claim: this.#claim(who), ttl, now: ttl, skew: 0, nonce };
      const decision = acquire(this.#tip(state), ask);
      return decision.outcome === "grant" ? decision.write : null;
    });
    const { token } = this.commits.get(write).record;
    const message = { from: who, kind: "acquire", write, acquisition: write, token } as const;
    const waiting = become(made(state), who, { at: "waiting", write });
    return [{ label: `${names[who]} asks for #${token}`, state: send(waiting, message) }];
  }

  #hearNothing(state: State, who: Who, write: Oid): Step {
    const label = `${names[who]} hears nothing`;
    if (this.form.lostReply === "success") return this.#granted(state, who, write, `${label} and goes on`);
    return { label, state: become(state, who, { at: "unsure", write }) };
  }

  /** Our commit at the tip: applied. The old tip: the very same commit again. Any other: somebody was faster. */
  #readAgain(state: State, who: Who, write: Oid): Step {
    const { record } = this.commits.get(write);
    if (state.tip === write) return this.#granted(state, who, write, `${names[who]} reads that it has`);
    if (state.tip !== record.previous)
      return { label: `${names[who]} reads that it lost`, state: become(state, who, { at: "idle" }) };
    const message = { from: who, kind: "acquire", write, acquisition: write, token: record.token } as const;
    const again = send(become(state, who, { at: "waiting", write }), message);
    return { label: `${names[who]} asks again for #${record.token}`, state: again };
  }

  #granted(state: State, who: Who, write: Oid, label: string): Step {
    const { token } = this.commits.get(write).record;
    const holding = { at: "holding", acquisition: write, token, tip: write } as const;
    return {
      label: `${label} #${token}`,
      state: { ...become(state, who, holding), returned: [...state.returned, token].sort((a, b) => a - b) },
      breaches: state.returned.includes(token) ? ["S1"] : [],
    };
  }

  #hold(state: State, who: Who, me: Extract<Claimant, { at: "holding" }>): Step[] {
    const sent = mayWrite(state) && state.wire.length < widest ? this.#writeOn(state, who, me) : [];
    const seen = this.#tip(state);
    const learnt = isMine(seen, this.#ownership(who, me, seen))
      ? { label: `${names[who]} sees its lease`, state: become(state, who, { ...me, tip: seen.oid }) }
      : { label: `${names[who]} sees that it lost`, state: become(state, who, { at: "idle" }) };
    return [...sent, learnt];
  }

  #writeOn(state: State, who: Who, me: Extract<Claimant, { at: "holding" }>): Step[] {
    const known = this.commits.get(me.tip);
    const mine = this.#ownership(who, me, known);
    const nonce = this.#nonce(state);
    const nexts = {
      renew: { event: "renewed", nonce },
      release: { event: "released", nonce },
      push: { event: "pushed", nonce, published: { "refs/heads/main": "c".repeat(40) } },
    } as const;
    return (["renew", "release", "push"] as const).map((kind) => {
      const write = this.commits.once(`${who} ${kind} ${mine.token} ${nonce} ${me.tip}`, () =>
        succeed(known, mine, nexts[kind]),
      );
      const { acquisition, token } = me;
      const message = { from: who, kind, write, acquisition, token };
      const next = kind === "release" ? become(state, who, { at: "idle" }) : state;
      return { label: `${names[who]} sends a ${kind} with #${token}`, state: send(made(next), message) };
    });
  }

  #arrive(state: State, message: Message): Step[] {
    switch (message.kind) {
      case "acquire":
        return this.#arriveAcquire(state, message);
      case "renew":
      case "release":
        return [this.#arriveWrite(state, message)];
      case "push":
      case "checked push":
        return [this.#arrivePush(state, message)];
    }
  }

  #arriveAcquire(state: State, message: Message): Step[] {
    const { from, write, token } = message;
    const outcome = this.#swap(state, message);
    const risen = state.acquisitions.every((oid) => this.commits.get(oid).record.token < token);
    const took = outcome === "applied";
    const next = took
      ? { ...state, tip: write, owner: write, acquisitions: [...state.acquisitions, write] }
      : state;
    const breaches: Rule[] = took && !risen ? ["S2"] : [];
    const silent = { label: `${told(message)} is ${outcome}, unheard`, state: next, breaches };
    const me = state.claimants[from];
    if (me.at !== "waiting" || me.write !== write) return [silent];
    const label = `${told(message)} is ${outcome}`;
    if (outcome === "conflict") return [silent, { label, state: become(next, from, { at: "idle" }) }];
    const heard = this.#granted(next, from, write, `${names[from]} is granted`);
    return [silent, { ...heard, breaches: [...breaches, ...(heard.breaches ?? [])] }];
  }

  #arriveWrite(state: State, message: Message): Step {
    const outcome = this.#swap(state, message);
    const label = `${told(message)} is ${outcome}`;
    if (outcome !== "applied") return { label, state };
    return {
      label,
      state: { ...state, tip: message.write, owner: message.kind === "release" ? null : state.owner },
    };
  }

  #arrivePush(state: State, message: Message): Step {
    const refused = { label: `${told(message)} is refused`, state };
    const coupled = this.#arriveWrite(state, message).state;
    switch (this.form.fence) {
      case "atomic":
        return this.#swap(state, message) === "applied" ? this.#accept(state, coupled, message) : refused;
      case "apart":
        return this.#accept(state, coupled, message);
      case "none":
        return this.#accept(state, state, message);
      case "verified":
        if (message.kind === "checked push") return this.#accept(state, state, message);
        if (this.#swap(state, message) === "conflict") return refused;
        return {
          label: `${told(message)} is checked`,
          state: send(state, { ...message, kind: "checked push" }),
        };
      case "number":
        return message.token >= state.accepted.token ? this.#accept(state, state, message) : refused;
    }
  }

  #accept(before: State, after: State, message: Message): Step {
    const acquisition = before.acquisitions.indexOf(message.acquisition) + 1;
    const superseded: Rule[] = before.owner === message.acquisition ? [] : ["S3"];
    const backwards: Rule[] = acquisition >= before.accepted.acquisition ? [] : ["S4"];
    return {
      label: `${told(message)} is accepted`,
      state: { ...after, accepted: { acquisition, token: message.token } },
      breaches: [...superseded, ...backwards],
    };
  }

  /** Compare and swap. A ref that is already where a write would put it is up to date, which counts as applied. */
  #swap(state: State, { write }: Message): "applied" | "up to date" | "conflict" {
    if (state.tip === write) return "up to date";
    return state.tip === this.commits.get(write).record.previous ? "applied" : "conflict";
  }

  #person(state: State): Step[] {
    const seen = this.#tip(state);
    if (seen === null) return [];
    const { token } = seen.record;
    if (this.form.unlock === "deletes")
      return [{ label: `a person deletes #${token}`, state: { ...state, tip: null, owner: null } }];
    if (!mayWrite(state)) return [];
    if (seen.record.state === "released") return [];
    const nonce = this.#nonce(state);
    const tip = this.commits.once(`unlock ${nonce} ${seen.oid}`, () => {
      const decision = unlock(seen, {
        lease: "blog-main",
        token,
        by: "mona",
        reason: "stuck",
        now: ttl,
        nonce,
      });
      return decision.outcome === "unlock" ? decision.write : null;
    });
    return [{ label: `a person unlocks #${token}`, state: { ...made(state), tip, owner: null } }];
  }

  #tip(state: State): SeenLease | null {
    return state.tip === null ? null : this.commits.get(state.tip);
  }

  #claim(who: Who): Claim {
    return { id: this.form.identity === "shared" ? "claim-of-both" : `claim-of-${names[who]}` };
  }

  #ownership(who: Who, me: { token: number }, seen: SeenLease | null): Ownership {
    const token = this.form.owner === "claim" && seen ? seen.record.token : me.token;
    return { token, claim: this.#claim(who) };
  }

  #nonce(state: State): string {
    return this.form.nonce === "none" ? "no-nonce" : `nonce-${String(state.left).padStart(4, "0")}`;
  }
}

function become(state: State, who: Who, next: Claimant): State {
  return { ...state, claimants: who === 0 ? [next, state.claimants[1]] : [state.claimants[0], next] };
}

function mayWrite(state: State): boolean {
  return state.left > 0;
}

function made(state: State): State {
  return { ...state, left: state.left - 1 };
}

/** Order on the wire means nothing, so it is kept sorted: states that differ only in it are one. */
function send(state: State, message: Message): State {
  const order = (m: Message) => `${m.write}${m.kind}${m.from}`;
  return { ...state, wire: [...state.wire, message].sort((a, b) => (order(a) < order(b) ? -1 : 1)) };
}

function told({ from, kind, token }: Message): string {
  return `${names[from]}'s ${kind} with #${token}`;
}

interface Explored {
  states: number;
  /** Everything that happened in some state. */
  labels: Set<string>;
  /** The first breach found, which is one of the shortest, and what led to it. */
  breach?: { rule: Rule; trace: string[] };
}

const start: State = {
  tip: null,
  claimants: [{ at: "idle" }, { at: "idle" }],
  wire: [],
  left: 4,
  owner: null,
  acquisitions: [],
  returned: [],
  accepted: { acquisition: 0, token: 0 },
};

/** Breadth first through every state within the bounds, up to the first breach of a rule. */
function explore(model: Model, rules: Rule[] = ["S1", "S2", "S3", "S4"], from = start): Explored {
  const key = (state: State) => keyOf(state, (oid) => model.commits.number(oid));
  const origin = new Map<string, { before: string; label: string } | null>([[key(from), null]]);
  const labels = new Set<string>();
  let layer: State[] = [from];
  while (layer.length > 0) {
    const next: State[] = [];
    for (const state of layer) {
      const before = key(state);
      for (const { label, state: after, breaches } of model.steps(state)) {
        if (after.wire.length > widest) continue;
        labels.add(label);
        const rule = breaches?.find((breach) => rules.includes(breach));
        if (rule)
          return { states: origin.size, labels, breach: { rule, trace: trace(origin, before, label) } };
        const id = key(after);
        if (origin.has(id)) continue;
        origin.set(id, { before, label });
        next.push(after);
      }
    }
    layer = next;
  }
  return { states: origin.size, labels };
}

/** All that tells one state from another, in short. */
function keyOf(state: State, number: (oid: Oid | null) => number): string {
  const { accepted, acquisitions, claimants, left, owner, returned, tip, wire } = state;
  const who = claimants.map((me) => {
    if (me.at === "idle") return me.at;
    if (me.at === "holding") return `${number(me.acquisition)}#${me.token}@${number(me.tip)}`;
    return `${me.at}${number(me.write)}`;
  });
  const messages = wire.map(
    (m) => `${m.from}${m.kind}${number(m.write)}/${number(m.acquisition)}#${m.token}`,
  );
  const judged = [number(owner), acquisitions.map(number), returned, accepted.acquisition, accepted.token];
  return [number(tip), left, ...who, ...messages, ...judged].join("|");
}

function trace(
  origin: Map<string, { before: string; label: string } | null>,
  before: string,
  last: string,
): string[] {
  const labels = [last];
  for (let at = origin.get(before); at; at = origin.get(at.before)) labels.unshift(at.label);
  return labels;
}

function report(name: string, { states }: Explored): void {
  console.log(`${name}: ${states} states`);
}

/** A lease that was released at its longest chain, so that the next acquisition begins a new root. */
function atLongestChain(commits: Commits): State {
  const asked = {
    lease: "blog-main",
    claim: { id: "claim-before" },
    ttl,
    now: 0,
    skew: 0,
    nonce: "nonce-before",
  };
  const first = acquire(null, asked);
  if (first.outcome !== "grant") throw new Error("a new lease is free");
  const record = {
    ...first.write.record,
    token: 41,
    state: "released",
    event: "released",
    previous: "0".repeat(40),
    depth: longestChain,
  } as const;
  const tip = commits.make({ record, expected: record.previous, root: false });
  return { ...start, tip, acquisitions: [tip] };
}

const fewer = { ...start, left: 3 };

describe("the real form of the protocol", () => {
  it("keeps every rule in every state", () => {
    const found = explore(new Model(real));
    report("the real form", found);
    expect(found.breach).toBeUndefined();
    expect(found.states).toBeGreaterThan(50_000);
    for (const label of [
      "A asks again for #1",
      "A reads that it has #1",
      "A reads that it lost",
      "B sees that it lost",
      "B's push with #2 is accepted",
      "A's push with #1 is refused",
      "A's release with #1 is conflict",
      "A's acquire with #1 is up to date, unheard",
      "a person unlocks #2",
    ])
      expect(found.labels).toContain(label);
  });

  it("keeps every rule across a new root", () => {
    const commits = new Commits();
    const found = explore(new Model(real, commits), undefined, { ...atLongestChain(commits), left: 3 });
    report("across a new root", found);
    expect(found.breach).toBeUndefined();
    expect(found.states).toBeGreaterThan(5000);
    expect(found.labels).toContain("B's push with #43 is accepted");
  });

  it("keeps every rule by its nonces alone, if both claimants have one identity", () => {
    const found = explore(new Model({ ...real, identity: "shared" }), undefined, fewer);
    report("with one identity", found);
    expect(found.breach).toBeUndefined();
    expect(found.states).toBeGreaterThan(5000);
  });
});

describe("a weakened form of the protocol", () => {
  it.each<[string, Partial<Form>, Rule[], Rule, string[]]>([
    [
      "without a fence accepts a late push",
      { fence: "none" },
      ["S1", "S2", "S3", "S4"],
      "S3",
      [
        "A asks for #1",
        "A is granted #1",
        "A sends a push with #1",
        "a person unlocks #1",
        "A's push with #1 is accepted",
      ],
    ],
    [
      "that only verifies the lease, unchanged, accepts a push that was checked too early",
      { fence: "verified" },
      ["S1", "S2", "S3", "S4"],
      "S3",
      [
        "A asks for #1",
        "A is granted #1",
        "A sends a push with #1",
        "A's push with #1 is checked",
        "a person unlocks #1",
        "A's checked push with #1 is accepted",
      ],
    ],
    [
      "that moves lease and branch apart accepts the branch where the lease is refused",
      { fence: "apart" },
      ["S1", "S2", "S3", "S4"],
      "S3",
      [
        "A asks for #1",
        "A is granted #1",
        "A sends a push with #1",
        "a person unlocks #1",
        "A's push with #1 is accepted",
      ],
    ],
    [
      "without nonces grants one commit to two claimants of one identity",
      { nonce: "none", identity: "shared" },
      ["S1", "S2", "S3", "S4"],
      "S1",
      ["A asks for #1", "B asks for #1", "A is granted #1", "B is granted #1"],
    ],
    [
      "that unlocks by deleting the record lets the token start again",
      { unlock: "deletes" },
      ["S2"],
      "S2",
      [
        "A asks for #1",
        "B asks for #1",
        "B's acquire with #1 is applied, unheard",
        "a person deletes #1",
        "A's acquire with #1 is applied, unheard",
      ],
    ],
    [
      "that unlocks by deleting the record grants a token twice",
      { unlock: "deletes" },
      ["S1"],
      "S1",
      ["A asks for #1", "B asks for #1", "B is granted #1", "a person deletes #1", "A is granted #1"],
    ],
    [
      "that takes a lost reply for success has two holders",
      { lostReply: "success" },
      ["S1", "S2", "S3", "S4"],
      "S1",
      ["A asks for #1", "A hears nothing and goes on #1", "B asks for #1", "B hears nothing and goes on #1"],
    ],
    [
      "that knows its own record by the claim and not by the token goes on with another's lease",
      { owner: "claim", identity: "shared" },
      ["S1", "S2", "S3", "S4"],
      "S3",
      [
        "A asks for #1",
        "A is granted #1",
        "B asks for #2",
        "B's acquire with #2 is applied, unheard",
        "A sees its lease",
        "A sends a push with #1",
        "A's push with #1 is accepted",
      ],
    ],
    [
      "that compares tokens as numbers, and deletes, accepts old work over new",
      { fence: "number", unlock: "deletes" },
      ["S4"],
      "S4",
      [
        "A asks for #1",
        "B asks for #1",
        "B is granted #1",
        "B sends a push with #1",
        "a person deletes #1",
        "A is granted #1",
        "A sends a push with #1",
        "A's push with #1 is accepted",
        "B's push with #1 is accepted",
      ],
    ],
  ])("%s", (name, change, rules, rule, trace) => {
    const found = explore(new Model({ ...real, ...change }), rules);
    report(name, found);
    expect(found.breach?.rule).toBe(rule);
    // Which claimant comes first, and what is interleaved how, hangs on the order of commit ids.
    expect([sorted(trace), sorted(trace.map(swapped))]).toContainEqual(sorted(found.breach?.trace ?? []));
  });

  it("that compares tokens as numbers, and never deletes, accepts superseded work, but not over newer", () => {
    const form: Form = { ...real, fence: "number" };
    expect(explore(new Model(form), ["S3"]).breach?.rule).toBe("S3");
    const found = explore(new Model(form), ["S1", "S2", "S4"]);
    report("tokens as numbers, never deleted", found);
    expect(found.breach).toBeUndefined();
  });
});

const sorted = (trace: readonly string[]) => [...trace].sort();

/** The same step with the claimants exchanged. */
const swapped = (step: string) => step.replace(/^[AB](?=[ '])/, (who) => (who === "A" ? "B" : "A"));
