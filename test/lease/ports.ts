// What the lease functions are given here: a store in memory, a clock that the test moves, and numbered nonces.
import type { Chance } from "../../src/chance.js";
import { type Acquired, type AcquireOptions, acquireLease, type Ports } from "../../src/lease/lease.js";
import type { Claim } from "../../src/protocol/claim.js";
import { type LeaseRecord, leaseRecordName, readLease, type SeenLease } from "../../src/protocol/lease.js";
import { type MemorySeams, memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import { type FakeClock, fakeClock } from "../support/fake-clock.js";

export const ttl = 900_000;
export const lease = "blog-main";
export const leaseRecord = leaseRecordName(lease);

export interface TestPorts extends Ports {
  clock: FakeClock;
  store: ReturnType<typeof memoryStore>;
  /** The same clock and chance with another store. */
  with(store: Store): Ports & { clock: FakeClock };
  /** The lease as it stands. */
  seen(): SeenLease | null;
  /** The lease's record; there must be one. */
  record(): LeaseRecord;
}

export function ports(seams: Pick<MemorySeams, "afterRead"> = {}): TestPorts {
  const clock = fakeClock();
  const store = memoryStore({ now: () => clock.read().wall, ...seams });
  const chance = numbered();
  const seen = () => readLease(store.tip(leaseRecord));
  return {
    clock,
    store,
    chance,
    with: (other) => ({ store: other, clock, chance }),
    seen,
    record: () => {
      const found = seen();
      if (found === null) throw new Error("There is no lease.");
      return found.record;
    },
  };
}

function numbered(): Chance {
  let count = 0;
  return { nonce: () => `nonce-${String(++count).padStart(8, "0")}`, random: () => 0.5 };
}

export function claim(id: string, more: Partial<Claim> = {}): Claim {
  return { id: `claim-${id}`, host: "vm-1", pid: 4242, ...more };
}

export function ask(id: string, more: Partial<AcquireOptions> = {}): AcquireOptions {
  return { lease, claim: claim(id), ttl, skew: 0, wait: 0, ...more };
}

/** Acquires, and fails the test when that is refused. */
export async function hold(on: Ports, id: string, more: Partial<AcquireOptions> = {}): Promise<Acquired> {
  const result = await acquireLease(on, ask(id, more));
  if (result.outcome !== "acquired") throw new Error(`${id} was refused.`);
  return result;
}
