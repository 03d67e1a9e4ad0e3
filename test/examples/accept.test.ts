// The examples of other resources, on a real database and a real HTTP server.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import { findPostgres, type Postgres, startPostgres } from "../support/postgres.js";

type Owner = { token: number; claim: { id: string } };
type Outcome = { outcome: string };
const owner = (token: number): Owner => ({ token, claim: { id: `claim-of-${token}` } });

let store: Store;
beforeEach(() => {
  store = memoryStore({ now: Date.now });
});

const bin = findPostgres();
// Where the project's own CI runs it must be there.
describe.skipIf(bin === null && !process.env.CI)("a row of Postgres", () => {
  let database: Postgres;
  let writePage: (store: Store, query: Postgres["query"], owner: Owner, page: object) => Promise<Outcome>;
  beforeAll(async () => {
    // @ts-expect-error An example is JavaScript.
    ({ writePage } = await import("../../examples/accept-postgres.mjs"));
    database = await startPostgres(bin as string);
    await database.query(
      "CREATE TABLE page (id int PRIMARY KEY, body text, fence bigint NOT NULL DEFAULT 0)",
    );
  });
  afterAll(() => database?.stop());
  beforeEach(async () => {
    await database.query("DELETE FROM page");
    await database.query("INSERT INTO page (id, body) VALUES (7, 'old')");
  });
  const write = (token: number, body: string, query = database.query) =>
    writePage(store, query, owner(token), { id: 7, body });
  const row = async () => (await database.query("SELECT body, fence FROM page")).rows[0];

  test("is written once for each token, and never by an older one", async () => {
    expect((await write(41, "forty-one")).outcome).toBe("accepted");
    expect((await write(42, "forty-two")).outcome).toBe("accepted");
    expect((await write(41, "late")).outcome).toBe("superseded");
    expect((await write(42, "twice")).outcome).toBe("superseded");
    expect(await row()).toEqual({ body: "forty-two", fence: "42" });
  });

  test("refuses a write that was on its way when a higher token came", async () => {
    const late = write(41, "late", async (text, values) => {
      expect((await write(42, "forty-two")).outcome).toBe("accepted");
      return database.query(text, values);
    });
    await expect(late).rejects.toThrow("Page 7 was not written");
    expect(await row()).toEqual({ body: "forty-two", fence: "42" });
  });

  test("twin: without the comparison in the statement that write comes through", async () => {
    const late = write(41, "late", async (text, values) => {
      await write(42, "forty-two");
      return database.query(text.replace("AND fence < $2", ""), values);
    });
    await late;
    expect(await row()).toMatchObject({ body: "late" });
  });
});

describe("a page behind an API", () => {
  let server: Server;
  let url: string;
  let page: { body: string; token: number };
  let before: () => Promise<unknown>;
  let putPage: (store: Store, url: string, owner: Owner, body: string) => Promise<Outcome>;
  beforeAll(async () => {
    // @ts-expect-error An example is JavaScript.
    ({ putPage } = await import("../../examples/accept-http.mjs"));
    server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const token = Number(request.headers["fencing-token"]);
      const wait = before;
      before = async () => {};
      await wait();
      if (token < page.token) return response.writeHead(412).end();
      page = { body, token };
      response.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/page`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    page = { body: "old", token: 0 };
    before = async () => {};
  });

  test("is put once for each token, and never by an older one", async () => {
    expect((await putPage(store, url, owner(41), "forty-one")).outcome).toBe("accepted");
    expect((await putPage(store, url, owner(42), "forty-two")).outcome).toBe("accepted");
    expect((await putPage(store, url, owner(41), "late")).outcome).toBe("superseded");
    expect(page).toEqual({ body: "forty-two", token: 42 });
  });

  test("refuses a request that was on its way when a higher token came", async () => {
    before = () => putPage(store, url, owner(42), "forty-two");
    await expect(putPage(store, url, owner(41), "late")).rejects.toThrow("refused token 41");
    expect(page).toEqual({ body: "forty-two", token: 42 });
  });

  test("an answer that says nothing uses the token up", async () => {
    before = async () => {
      server.closeAllConnections();
    };
    await expect(putPage(store, url, owner(41), "forty-one")).rejects.toThrow();
    expect((await putPage(store, url, owner(41), "again")).outcome).toBe("superseded");
    expect((await putPage(store, url, owner(42), "forty-two")).outcome).toBe("accepted");
  });
});
