// Configuration: schema, defaults, and where each value came from. A file of any format becomes this tree.

export type ConfigNode = ConfigMap | ConfigList | ConfigScalar;

export interface ConfigMap {
  readonly kind: "map";
  readonly origin: Origin;
  /** Each key once. */
  readonly entries: readonly ConfigEntry[];
}

export interface ConfigEntry {
  readonly key: string;
  /** Where the key is; its value has its own origin. */
  readonly origin: Origin;
  readonly node: ConfigNode;
}

export interface ConfigList {
  readonly kind: "list";
  readonly origin: Origin;
  readonly items: readonly ConfigNode[];
}

export interface ConfigScalar {
  readonly kind: "scalar";
  readonly origin: Origin;
  /** Null counts as not written. */
  readonly value: ScalarValue;
}

export type ScalarValue = string | number | boolean | null;

/** Where a value came from, so that a user can ask why. */
export type Origin =
  | { readonly kind: "default" }
  | {
      readonly kind: "file";
      readonly file: string;
      /** From 1. */
      readonly line: number;
      readonly column: number;
      /** Found in a workspace, so another person or the agent may have written it. */
      readonly isFound: boolean;
    }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "option"; readonly name: string };

/** As `default`, `/srv/ana/strata.yaml:12`, `environment STRATA_STORE` or `option --model`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "default";
    case "file":
      return `${origin.file}:${origin.line}`;
    case "environment":
      return `environment ${origin.name}`;
    case "option":
      return `option ${origin.name}`;
  }
}

export function isNothing(node: ConfigNode | undefined): node is undefined {
  return node === undefined || (node.kind === "scalar" && node.value === null);
}

export function entryOf(node: ConfigNode | undefined, key: string): ConfigEntry | undefined {
  return node?.kind === "map" ? node.entries.find((entry) => entry.key === key) : undefined;
}

/** The node at the end of a path; undefined if there is none. */
export function nodeAt(
  node: ConfigNode | undefined,
  path: readonly string[],
): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>((at, key) => entryOf(at, key)?.node, node);
}

export function emptyAt(origin: Origin): ConfigMap {
  return { kind: "map", origin, entries: [] };
}

/** A tree with one value in it. */
export function nodeWith(path: readonly string[], leaf: ConfigNode): ConfigNode {
  const { origin } = leaf;
  return path.reduceRight<ConfigNode>(
    (node, key) => ({ kind: "map", origin, entries: [{ key, origin, node }] }),
    leaf,
  );
}

/** The values alone, for catalogues and for printing. */
export function toPlain(node: ConfigNode): unknown {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toPlain);
    case "map":
      return Object.fromEntries(node.entries.map(({ key, node: value }) => [key, toPlain(value)]));
  }
}
