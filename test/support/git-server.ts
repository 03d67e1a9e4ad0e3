// A git server over HTTP for tests: `git http-backend` behind a small server that counts, and breaks things on demand.
import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

export interface GitRequest {
  method: string;
  path: string;
  /** `push` and `fetch` are the requests that move data; `refs` is the advertisement. */
  kind: "refs" | "push" | "fetch";
  authorization: string | undefined;
}

export type Fault =
  /** The server does the work, and then cuts the connection instead of answering. */
  | "lost-reply"
  /** The connection is cut before the server has seen the request. */
  | "lost-request"
  /** Answered with this status, without doing the work. */
  | { status: number; text?: string }
  /** Runs before the work is done. */
  | { before: () => unknown | Promise<unknown> };

export interface GitServer {
  url: string;
  requests: GitRequest[];
  /** The next request of that kind meets the fault. Several calls queue up. */
  fail(kind: GitRequest["kind"], fault: Fault): void;
  close(): Promise<void>;
}

export interface GitServerOptions {
  /** The folder that holds the repositories. */
  root: string;
  env: NodeJS.ProcessEnv;
  /** Only requests with this `Authorization` header are answered. */
  authorization?: string;
}

export async function gitServer({ root, env, authorization }: GitServerOptions): Promise<GitServer> {
  const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  const requests: GitRequest[] = [];
  const faults: { kind: GitRequest["kind"]; fault: Fault }[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    const kind = url.pathname.endsWith("/git-receive-pack")
      ? "push"
      : url.pathname.endsWith("/git-upload-pack")
        ? "fetch"
        : "refs";
    const body = await read(request);
    const headers = request.headersDistinct.authorization ?? [];
    requests.push({
      method: request.method ?? "",
      path: url.pathname + url.search,
      kind,
      authorization: headers[0],
    });
    if (headers.length > 1) return void response.writeHead(400).end('Duplicate header: "Authorization"');
    if (authorization !== undefined && headers[0] !== authorization)
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    const at = faults.findIndex((f) => f.kind === kind);
    const fault = at < 0 ? undefined : faults.splice(at, 1)[0]?.fault;
    if (fault === "lost-request") return void request.socket.destroy();
    if (typeof fault === "object" && "status" in fault)
      return void response.writeHead(fault.status).end(fault.text ?? "");
    if (typeof fault === "object") await fault.before();
    const reply = await backendReply(url, request, body);
    if (fault === "lost-reply") return void request.socket.destroy();
    // Kept open, a connection that is cut would make curl send a lost request again by itself.
    response.writeHead(reply.status, [...reply.headers, ["connection", "close"]].flat()).end(reply.body);
  }

  function backendReply(url: URL, request: IncomingMessage, body: Buffer) {
    return new Promise<{ status: number; headers: [string, string][]; body: Buffer }>((resolve, reject) => {
      const child = spawn(backend, [], {
        env: {
          ...env,
          GIT_PROJECT_ROOT: root,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: decodeURIComponent(url.pathname),
          QUERY_STRING: url.search.slice(1),
          REQUEST_METHOD: request.method,
          CONTENT_TYPE: request.headers["content-type"] ?? "",
          CONTENT_LENGTH: String(body.length),
          GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
          REMOTE_USER: "tester",
          REMOTE_ADDR: "127.0.0.1",
        },
        stdio: ["pipe", "pipe", "ignore"],
      });
      const chunks: Buffer[] = [];
      child.stdout.on("data", (chunk) => chunks.push(chunk));
      child.stdin.on("error", () => {});
      child.stdin.end(body);
      child.on("error", reject);
      child.on("close", () => {
        const output = Buffer.concat(chunks);
        const end = output.indexOf("\r\n\r\n");
        const lines = output.toString("latin1", 0, end).split("\r\n");
        const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
        const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
        resolve({
          status,
          headers: headers.filter(([name]) => name !== "Status" && name !== ""),
          body: output.subarray(end + 4),
        });
      });
    });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    fail: (kind, fault) => void faults.push({ kind, fault }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}
