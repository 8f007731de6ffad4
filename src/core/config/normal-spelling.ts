// Brings the spellings of a file to one: context_optimization below llm, agents as a map.
import * as tree from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { maskText } from "./mask-secrets.ts";

export interface Spelled {
  readonly node: tree.ConfigNode;
  readonly problems: readonly ConfigProblem[];
}

/** For one file, before it is merged with others. The schema reports all other problems. */
export function toNormalSpelling(node: tree.ConfigNode): Spelled {
  if (node.kind !== "map") return { node, problems: [] };
  const moved = moveBelowLlm(node);
  const listed = nameAgents(moved.map);
  return { node: listed.map, problems: [...moved.problems, ...listed.problems] };
}

interface Changed {
  readonly map: tree.ConfigMap;
  readonly problems: readonly ConfigProblem[];
}

function moveBelowLlm(map: tree.ConfigMap): Changed {
  const entry = tree.entryOf(map, name);
  if (entry === undefined) return { map, problems: [] };
  const llm = tree.entryOf(map, "llm");
  const both = tree.entryOf(llm?.node, name);
  if (both !== undefined) {
    const hint = "keep one of the two";
    const message = `${name} is written both by itself and below llm`;
    return { map: without(map, name), problems: [error(both.origin, message, hint)] };
  }
  // The schema reports an llm that is not a group.
  const before = tree.isNothing(llm?.node) ? tree.emptyAt(entry.origin) : llm.node;
  if (before.kind !== "map") return { map: without(map, name), problems: [] };
  const node: tree.ConfigMap = { ...before, entries: [...before.entries, entry] };
  const moved: tree.ConfigEntry = { key: "llm", origin: llm?.origin ?? entry.origin, node };
  const rest = without(without(map, name), "llm");
  return { map: { ...rest, entries: [...rest.entries, moved] }, problems: [] };
}

const name = "context_optimization";

function nameAgents(map: tree.ConfigMap): Changed {
  const agents = tree.entryOf(map, "agents");
  if (agents?.node.kind !== "list") return { map, problems: [] };
  const problems: ConfigProblem[] = [];
  const entries = new Map<string, tree.ConfigEntry>();
  for (const item of agents.node.items) {
    const entry = toNamed(item);
    const twice = typeof entry !== "string" && entries.has(entry.key);
    if (typeof entry === "string") {
      problems.push(error(item.origin, entry, "begin the item with - id: NAME"));
    } else if (twice) {
      const message = `the agent ${JSON.stringify(maskText(entry.key))} is written twice`;
      problems.push(error(item.origin, message, "write its settings together"));
    } else entries.set(entry.key, entry);
  }
  const node: tree.ConfigMap = {
    kind: "map",
    origin: agents.node.origin,
    entries: [...entries.values()],
  };
  const changed = map.entries.map((entry) => (entry === agents ? { ...entry, node } : entry));
  return { map: { ...map, entries: changed }, problems };
}

/** The item under its id; a text if something is wrong with it. */
function toNamed(item: tree.ConfigNode): tree.ConfigEntry | string {
  if (item.kind !== "map") return "an item of agents is not a group of settings";
  const id = tree.entryOf(item, "id");
  if (id === undefined) return "an item of agents has no id";
  const key = id.node.kind === "scalar" ? id.node.value : null;
  if (typeof key !== "string" || key === "") return "the id of an agent must be text";
  return { key, origin: id.origin, node: without(item, "id") };
}

function without(map: tree.ConfigMap, key: string): tree.ConfigMap {
  return { ...map, entries: map.entries.filter((entry) => entry.key !== key) };
}

function error(origin: tree.Origin, message: string, hint: string): ConfigProblem {
  return { severity: "error", origin, message, hint };
}
