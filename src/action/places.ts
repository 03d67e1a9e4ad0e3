// Links to what a repository shows: branches, commits and the history of a lease.
import { leaseRecordName } from "../protocol/lease.js";
import { defaultPrefix } from "../protocol/names.js";
import type { Oid } from "../protocol/record.js";
import { code, link } from "./markdown.js";

/** Where links lead. Without both of them there are names and no links. */
export interface Repository {
  /** `https://github.com` */
  serverUrl?: string | undefined;
  /** `octo/blog` */
  repository?: string | undefined;
  /** The ref prefix of the records. */
  prefix?: string | undefined;
}

/** A ref as people say it. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, "");
}

export function branchLink(at: Repository, ref: string): string {
  return link(code(shortRef(ref)), page(at, "tree", shortRef(ref)));
}

export function commitLink(at: Repository, oid: Oid): string {
  const known = /^[0-9a-f]{40,64}$/.test(oid);
  return link(code(oid.slice(0, 10)), known ? page(at, "commit", oid) : undefined);
}

/** A file's path, leading to it as it is at a branch or a commit. */
export function fileLink(at: Repository, path: string, where: string | undefined): string {
  return link(code(path), where === undefined ? undefined : page(at, "blob", `${shortRef(where)}/${path}`));
}

/** The lease's name, leading to its audit trail. */
export function leaseLink(at: Repository, lease: string): string {
  return link(code(lease), page(at, "commits", `${at.prefix ?? defaultPrefix}/${leaseRecordName(lease)}`));
}

function page({ serverUrl, repository }: Repository, kind: string, path: string): string | undefined {
  if (!serverUrl || !repository || !/^[\w.-]+\/[\w.-]+$/.test(repository) || !path.isWellFormed())
    return undefined;
  const parts = path.split("/").map(encodeURIComponent);
  return `${serverUrl.replace(/\/+$/, "")}/${repository}/${kind}/${parts.join("/")}`;
}
