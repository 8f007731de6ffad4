// Merges files, variables and options into one tree: the later one wins, key by key.
import { isNothing, type ConfigEntry, type ConfigMap, type ConfigNode } from "./config-node.ts";

/** Maps are merged; lists and single values are replaced as a whole. Weakest first. */
export function mergeNodes(layers: readonly ConfigNode[]): ConfigNode {
  return layers.reduce<ConfigNode>(mergeTwo, nothing);
}

const nothing: ConfigMap = { kind: "map", origin: { kind: "default" }, entries: [] };

function mergeTwo(lower: ConfigNode, upper: ConfigNode): ConfigNode {
  if (isNothing(upper)) return lower;
  if (lower.kind !== "map" || upper.kind !== "map") return upper;
  const entries = new Map<string, ConfigEntry>(lower.entries.map((entry) => [entry.key, entry]));
  for (const entry of upper.entries) {
    const before = entries.get(entry.key);
    entries.set(
      entry.key,
      before === undefined
        ? entry
        : isNothing(entry.node)
          ? before
          : { ...entry, node: mergeTwo(before.node, entry.node) },
    );
  }
  return { kind: "map", origin: upper.origin, entries: [...entries.values()] };
}
