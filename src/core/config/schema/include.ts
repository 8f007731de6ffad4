// include: other files of the same configuration. edge/config reads them; a variable cannot name one.
import { isNothing, nodeAt, type ConfigNode, type ConfigScalar } from "../config-node.ts";
import { reportUnfit } from "../leaves.ts";
import type { Spec } from "../spec.ts";

const allowed = "a file, or a list of files";

export const include: Spec<readonly string[]> = {
  meaning: "other files of this configuration, weaker than this one; later ones win",
  shape: { kind: "leaf", allowed, usual: [] },
  read: (node, context) => {
    if (isNothing(node)) return [];
    const paths = toPaths(node);
    if (paths === null) reportUnfit(node, context, { allowed, usual: [] });
    return (paths ?? []).map(({ value }) => value);
  },
};

/** A path as it is written, with its place. */
export interface IncludedPath extends ConfigScalar {
  readonly value: string;
}

/** The files that a file includes, the weakest first. None if they are not written as they must be. */
export function includedPaths(root: ConfigNode | null): readonly IncludedPath[] {
  const node = root === null ? undefined : nodeAt(root, ["include"]);
  return isNothing(node) ? [] : (toPaths(node) ?? []);
}

function toPaths(node: ConfigNode): readonly IncludedPath[] | null {
  const items = node.kind === "list" ? node.items : [node];
  const paths = items.flatMap((item) =>
    item.kind === "scalar" && typeof item.value === "string" && isPath(item.value)
      ? [{ ...item, value: item.value }]
      : [],
  );
  return paths.length === items.length ? paths : null;
}

function isPath(text: string): boolean {
  return text !== "" && !text.includes("\0");
}
