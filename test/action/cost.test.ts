// Requests of the action are counted: a lease must not eat the limits of the workflows that it serves.
import { afterAll, beforeAll, expect, it } from "vitest";
import { actionRequests, bundleFacts } from "../../bench/action.js";
import { sweepRequests } from "../../bench/drafts.js";
import { type Hub, hub } from "../support/hub.js";

let on: Hub;
beforeAll(async () => {
  on = await hub();
});
afterAll(() => on.close());

it("each step makes the requests of its budget, and no more", async () => {
  const requests = await actionRequests(on);
  const { "unpaid 304 answers while waiting": free, ...paid } = requests;
  expect(paid).toEqual({
    "acquire, the first time ever": 3,
    acquire: 2,
    release: 1,
    renew: 1,
    "fenced push": 0,
    "skip, with the question whether the holder has finished": 3,
    "skip, where that may not be asked": 3,
    "paid requests of a wait of 12 s, its acquire and both releases": 8,
    // A read and two for a new record; then a look whether a push in the job has published it, or its end.
    "a job for a draft that is claimed for the first time, pushed": 4,
    "the same without a push": 4,
    "a job for a slot: acquire and release": 3,
  });
  expect(free).toBeGreaterThan(0);
});

it("a sweep over 10,000 drafts, of which 200 have records, asks three times", async () => {
  // One query for the floor, and one for each hundred records; the drafts themselves come by git.
  expect(await sweepRequests()).toBe(3);
});

it("bundles stay small", () => {
  for (const size of Object.values(bundleFacts().sizes)) expect(size).toBeLessThan(700_000);
});
