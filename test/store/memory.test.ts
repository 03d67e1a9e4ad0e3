// The store in memory keeps the contract, and its seams are where tests need them.
import { expect, test } from "vitest";
import { recordName } from "../../src/protocol/names.js";
import { memoryStore } from "../../src/store/memory.js";
import { storeContract } from "./contract.js";

const start = Date.UTC(2026, 2, 1, 12);
const a = recordName("lease", "a");

storeContract("the memory store", async () => {
  const store = memoryStore({ now: () => start });
  return { store: () => store, contentAddressed: true, dispose: () => store.close() };
});

test("a competing write between a read and its use makes the reader's swap a conflict", async () => {
  const store = memoryStore({
    now: () => start,
    afterRead: async () => {
      await store.swap([{ name: a, expected: null, next: { message: "faster\n" } }]);
    },
  });
  const { records } = await store.read([a]);
  expect(records).toEqual([null]);
  expect(await store.swap([{ name: a, expected: null, next: { message: "slower\n" } }])).toEqual({
    outcome: "conflict",
  });
  expect(store.tip(a)?.message).toBe("faster\n");
});

test("writes are stamped in whole seconds, as git stamps them", async () => {
  const store = memoryStore({ now: () => start + 1999 });
  await store.swap([{ name: a, expected: null, next: { message: "one\n" } }]);
  expect(store.tip(a)?.writtenAt).toBe(start + 1000);
  expect((await store.read([a])).now).toBe(start + 1999);
});
