// A lease that is held, a clone with a commit to publish, and a git program whose single answers can be changed.
import { execFileSync } from "node:child_process";
import { systemChance } from "../../src/chance.js";
import { systemClock } from "../../src/clock.js";
import { leaseFence } from "../../src/gate/fence.js";
import type { PushRequest } from "../../src/gate/push.js";
import { findClone } from "../../src/git/clone.js";
import { findRemote } from "../../src/git/remote.js";
import { acquireLease, type Ports, succeedLease, unlockLease } from "../../src/lease/lease.js";
import { type Holding, leaseRecordName } from "../../src/protocol/lease.js";
import { refOf } from "../../src/protocol/names.js";
import { type GitPlace, gitPlace } from "../store/git-place.js";

export const lease = refOf("fencepost", leaseRecordName("blog"));
const claim = { id: "writer-0001", host: "here", pid: 1 };

export interface Stage extends GitPlace {
  clone: string;
  ports: Ports;
  /** The lease as it was acquired. */
  holding: Holding;
  request: PushRequest;
  /** What the push said on its way. */
  said: string[];
  /** Commits in the clone. */
  commit(message: string, ...flags: string[]): string;
  /** Puts a git before the real one that runs this shell script first, after those of earlier calls; `$REAL` is the real one. */
  shim(script: string): void;
  /** A record that stands on the held one, written and taken back: another holder's, or a renewal. */
  next(kind: "taken" | "renewed"): Promise<string>;
}

export async function stage(): Promise<Stage> {
  const place = gitPlace();
  const clone = `${place.folder}/clone`;
  place.git(place.folder, "clone", "--quiet", place.origin, clone);
  place.git(clone, "config", "user.name", "Writer");
  place.git(clone, "config", "user.email", "writer@example.org");
  const commit = (message: string, ...flags: string[]) => {
    place.git(clone, "commit", "--quiet", "--allow-empty", "-m", message, ...flags);
    return place.git(clone, "rev-parse", "HEAD");
  };
  commit("start");
  place.git(clone, "push", "--quiet", "origin", "HEAD:main");
  const remote = await findRemote(place.origin, null, place.folder);
  const ports: Ports = { store: place.store(remote), clock: systemClock, chance: systemChance };
  const acquired = await acquireLease(ports, { lease: "blog", claim, ttl: 900_000, skew: 0, wait: 0 });
  if (acquired.outcome !== "acquired") throw new Error("the lease of a test is free");
  const { holding } = acquired;
  const found = await findClone(clone);
  if (found === null) throw new Error("the clone of a test is one");
  const said: string[] = [];
  const scripts: string[] = [];
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const request: PushRequest = {
    clone: found,
    remote,
    prefix: "fencepost",
    fences: [leaseFence("blog", { token: holding.token, claim }, systemChance)],
    head: commit("article"),
    branch: "refs/heads/main",
    further: [],
    onMoved: { how: "rebase" },
    attempts: 3,
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) },
    chance: systemChance,
    now: () => Date.now(),
    bundleFolder: place.folder,
    say: (text) => void said.push(text),
  };
  return {
    ...place,
    clone,
    ports,
    holding,
    request,
    said,
    commit,
    shim(script) {
      scripts.push(script);
      place.script("bin/git", `REAL=${real}\n${scripts.join("\n")}\nexec "$REAL" "$@"`);
      if (scripts.length === 1) process.env.PATH = `${place.folder}/bin:${process.env.PATH}`;
    },
    async next(kind) {
      if (kind === "renewed") await succeedLease(ports, holding, "renewed");
      else
        await unlockLease(ports, { lease: "blog", token: holding.token, by: "someone", reason: "takeover" });
      const oid = place.tip(lease);
      place.git(place.origin, "update-ref", lease, holding.oid);
      return oid;
    },
  };
}
