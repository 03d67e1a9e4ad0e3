/** Blobs, trees and tags as GraphQL values. */
import type { GitObject } from "../git.js";
import { nodeId } from "../node-ids.js";
import type { Repository } from "../repository.js";
import { type GraphqlContext, objectValue, repositoryValue, type Value } from "./values.js";

const SHOWN = 512_000;

export function blobValue(repository: Repository, { oid, content }: GitObject): Value {
  const isBinary = content.subarray(0, 8000).includes(0);
  return {
    __typename: "Blob",
    id: nodeId("B", repository.fullName, oid),
    byteSize: content.length,
    isBinary,
    isTruncated: content.length > SHOWN,
    text: isBinary ? null : content.subarray(0, SHOWN).toString(),
  };
}

export function treeValue(context: GraphqlContext, repository: Repository, oid: string, folder = ""): Value {
  return {
    __typename: "Tree",
    id: nodeId("T", repository.fullName, oid),
    entries: async () => {
      const entries = (await repository.objects.tree(oid)) ?? [];
      return entries.map((entry) => ({
        name: entry.name,
        path: folder + entry.name,
        mode: Number.parseInt(entry.mode, 8),
        type: entry.type,
        oid: entry.oid,
        extension: /\.[^.]*$/.exec(entry.name)?.[0] ?? "",
        size: async () =>
          entry.type === "blob" ? ((await repository.objects.read(entry.oid))?.content.length ?? 0) : 0,
        repository: () => repositoryValue(context, repository),
        object: async () => {
          const value = objectValue(context, repository, await repository.objects.read(entry.oid));
          // Only here is it known where a folder is, which the paths of its entries need.
          if (value === null || entry.type !== "tree") return value;
          return { ...value, ...treeValue(context, repository, entry.oid, `${folder}${entry.name}/`) };
        },
      }));
    },
  };
}

export async function entryAt(
  context: GraphqlContext,
  repository: Repository,
  tree: string,
  path: string,
): Promise<unknown> {
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
  const parent = await repository.objects.read(folder === "" ? tree : `${tree}:${folder.slice(0, -1)}`);
  if (parent?.type !== "tree") return null;
  const listed = treeValue(context, repository, parent.oid, folder).entries as () => Promise<Value[]>;
  return (await listed()).find((entry) => entry.path === path) ?? null;
}

export function tagValue(
  context: GraphqlContext,
  repository: Repository,
  { oid, content }: GitObject,
): Value {
  const text = content.toString();
  const field = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? "";
  return {
    __typename: "Tag",
    id: nodeId("TA", repository.fullName, oid),
    name: field("tag"),
    message: text.slice(text.indexOf("\n\n") + 2),
    target: async () => objectValue(context, repository, await repository.objects.read(field("object"))),
  };
}
