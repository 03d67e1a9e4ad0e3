// A resource that is no git branch: one write for each token, the fence first.
import { describe, expect, test } from "vitest";
import { accept } from "../../src/gate/accept.js";
import { fenceRecordName, readFence } from "../../src/protocol/fence.js";
import { StoreUnavailable } from "../../src/store/store.js";
import { claim, ports } from "../lease/ports.js";
import { faultyStore } from "../support/faulty-store.js";

const owner = (token: number, who = String(token)) => ({ token, claim: claim(`of-${who}`) });

describe("accept", () => {
  test("commits once for each token, and never for one that is not higher", async () => {
    const on = ports();
    const written: number[] = [];
    const commit = (token: number) => written.push(token);
    expect(await accept(on, "row 7", owner(41), commit)).toEqual({ outcome: "accepted", value: 1 });
    expect(await accept(on, "row 7", owner(41), commit)).toMatchObject({ outcome: "superseded", token: 41 });
    expect(await accept(on, "row 7", owner(42), commit)).toMatchObject({ outcome: "accepted" });
    const late = await accept(on, "row 7", owner(41), commit);
    expect(late).toMatchObject({ outcome: "superseded", token: 42, holder: { id: "claim-of-42" } });
    expect(late).toMatchObject({
      why: expect.stringMatching(/token 41 of the resource "row 7" is too late.*token 42/),
    });
    expect(written).toEqual([41, 42]);
  });

  test("advances the fence before it commits", async () => {
    const on = ports();
    const name = fenceRecordName({ of: "resource", name: "row 7" });
    const during = await accept(on, "row 7", owner(5), () => readFence(on.store.tip(name))?.record.token);
    expect(during).toEqual({ outcome: "accepted", value: 5 });
  });

  test("of many with one token lets one through, and none of an older token after a newer one", async () => {
    const on = ports();
    const written: number[] = [];
    const all = [1, 1, 2, 2, 3, 3].map((token, i) =>
      accept(on, "row 7", owner(token, `${token}-${i}`), (accepted) => written.push(accepted)),
    );
    await on.clock.advance(60_000);
    await Promise.all(all);
    expect(written.at(-1)).toBe(3);
    expect(written).toEqual([...new Set(written)].sort());
  });

  test("a commit that fails has used its token up; the next holder goes on", async () => {
    const on = ports();
    const broken = accept(on, "row 7", owner(1), () => Promise.reject(new Error("no connection")));
    await expect(broken).rejects.toThrow("no connection");
    expect(await accept(on, "row 7", owner(1), () => 1)).toMatchObject({ outcome: "superseded" });
    expect(await accept(on, "row 7", owner(2), () => 2)).toEqual({ outcome: "accepted", value: 2 });
  });

  test.each(["unavailable-before", "unavailable-after"] as const)(
    "a fence whose write is not known commits nothing (%s)",
    async (fault) => {
      const on = ports();
      const store = faultyStore(on.store, on.clock, { swap: [fault] });
      let committed = false;
      const asked = accept(on.with(store), "row 7", owner(1), () => {
        committed = true;
      });
      await expect(asked).rejects.toThrow(StoreUnavailable);
      expect(committed).toBe(false);
      // Asked again it commits only if the first write did not arrive, so never twice.
      const again = await accept(on, "row 7", owner(1), () => true);
      expect(again.outcome).toBe(fault === "unavailable-before" ? "accepted" : "superseded");
    },
  );

  test("resources have fences of their own", async () => {
    const on = ports();
    await accept(on, "row 7", owner(9), () => 0);
    expect(await accept(on, "row 8", owner(1), () => 0)).toMatchObject({ outcome: "accepted" });
  });
});
