/** REST: git references. */
import { nodeId } from "../node-ids.js";
import { restRefusal } from "../protection.js";
import { applyUpdates, type Refusal } from "../ref-updates.js";
import { isRefName, type RefValue } from "../refs.js";
import { type Answer, type Context, Refused, type Route, route } from "./router.js";

const BASE = "/repos/{owner}/{repo}/git";

export function refRoutes(): Route[] {
  return [
    route("GET", `${BASE}/ref/{ref}`, ["contents", "read"], getRef),
    route("GET", `${BASE}/matching-refs/{ref}`, ["contents", "read"], matchingRefs),
    route("POST", `${BASE}/refs`, ["contents", "write"], createRef),
    route("PATCH", `${BASE}/refs/{ref}`, ["contents", "write"], updateRef),
    route("DELETE", `${BASE}/refs/{ref}`, ["contents", "write"], deleteRef),
  ];
}

/** An empty repository answers 409 to all of git's endpoints. */
export async function notEmpty(context: Context): Promise<void> {
  const { refs, defaultBranch } = context.repository;
  if ((await refs.get(`refs/heads/${defaultBranch}`)) !== null) return;
  if ((await refs.list("")).length === 0) throw new Refused(409, "Git Repository is empty.");
}

function shape(context: Context, { ref, oid, type }: RefValue): Record<string, unknown> {
  const url = `${context.api}/repos/${context.repository.fullName}/git`;
  return {
    ref,
    node_id: nodeId("REF", context.repository.fullName, ref),
    url: `${url}/${ref}`,
    object: { sha: oid, type, url: `${url}/${type}s/${oid}` },
  };
}

async function getRef(context: Context): Promise<Answer> {
  await notEmpty(context);
  const found = await context.view.get(`refs/${context.parameters.ref}`);
  if (found === null) throw new Refused(404, "Not Found");
  return { status: 200, body: shape(context, found) };
}

async function matchingRefs(context: Context): Promise<Answer> {
  await notEmpty(context);
  const found = await context.view.list(`refs/${context.parameters.ref}`);
  return { status: 200, body: found.map((one) => shape(context, one)) };
}

async function createRef(context: Context): Promise<Answer> {
  await notEmpty(context);
  const { ref, sha } = context.body as { ref: string; sha: string };
  if (!isRefName(ref))
    throw new Refused(
      422,
      ref.startsWith("refs/")
        ? `${ref} is not a valid ref name.`
        : "Reference name must start with 'refs/' and have at least two slashes",
    );
  const update = { ref, after: sha.toLowerCase(), force: false };
  const refused = await applyUpdates(context.repository, [update], context.writer, "create");
  if (refused !== null) throw refusalOf(refused, "create");
  const made = await context.repository.objects.read(update.after);
  return { status: 201, body: shape(context, { ref, oid: update.after, type: made?.type ?? "commit" }) };
}

async function updateRef(context: Context): Promise<Answer> {
  await notEmpty(context);
  const { sha, force = false } = context.body as { sha: string; force?: boolean };
  const ref = `refs/${context.parameters.ref}`;
  const update = { ref, after: sha.toLowerCase(), force };
  const refused = await applyUpdates(context.repository, [update], context.writer, "update");
  if (refused !== null) throw refusalOf(refused, "update");
  const made = await context.repository.objects.read(update.after);
  return { status: 200, body: shape(context, { ref, oid: update.after, type: made?.type ?? "commit" }) };
}

/** Unconditional: the endpoint takes no expected value. */
async function deleteRef(context: Context): Promise<Answer> {
  await notEmpty(context);
  const update = { ref: `refs/${context.parameters.ref}`, after: null, force: true };
  const refused = await applyUpdates(context.repository, [update], context.writer, "update");
  if (refused !== null) throw refusalOf(refused, "update");
  return { status: 204 };
}

function refusalOf(refusal: Refusal, doing: "create" | "update"): Refused {
  switch (refusal.why) {
    case "missing":
    case "bad-name":
      return new Refused(422, "Reference does not exist");
    case "exists":
      return new Refused(422, "Reference already exists");
    case "no-object":
    case "not-a-commit":
      return new Refused(422, "Object does not exist");
    case "not-fast-forward":
      return new Refused(422, "Update is not a fast forward");
    case "protected":
      return new Refused(422, restRefusal(refusal.rule, doing === "create"));
    case "workflow":
      // The same lack that a push explains is a plain permission error here.
      return new Refused(
        403,
        "Resource not accessible by integration",
        {},
        {
          "x-accepted-github-permissions": "contents=write,workflows=write",
        },
      );
    case "lost-race":
      if (doing === "create" && /reference already exists/.test(refusal.detail ?? "")) {
        return new Refused(422, "Reference already exists");
      }
      return new Refused(422, doing === "create" ? "Reference update failed" : "Reference cannot be updated");
    case "hidden":
    case "default-branch":
    case "stale":
      return new Refused(422, doing === "create" ? "Reference update failed" : "Reference cannot be updated");
  }
}
