/** Node ids: opaque to clients, derived from names, so that a ref made again has the id it had before. */

export type NodeKind = "R" | "REF" | "C" | "B" | "T" | "TA" | "U";

export function nodeId(kind: NodeKind, ...parts: string[]): string {
  return `${kind}_${Buffer.from(parts.join("\0")).toString("base64url")}`;
}

export function parseNodeId(id: string): { kind: string; parts: string[] } | null {
  const found = /^([A-Z]+)_([A-Za-z0-9_-]+)$/.exec(id);
  if (found === null) return null;
  return {
    kind: found[1] ?? "",
    parts: Buffer.from(found[2] ?? "", "base64url")
      .toString()
      .split("\0"),
  };
}
