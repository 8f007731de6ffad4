// Configuration: schema, defaults, and where each value came from. Whatever a file is written in, it arrives here as such a tree.

export type ConfigNode = ConfigMap | ConfigList | ConfigScalar;

export interface ConfigMap {
  readonly kind: "map";
  readonly origin: Origin;
  /** Each key once. */
  readonly entries: readonly ConfigEntry[];
}

export interface ConfigEntry {
  readonly key: string;
  /** Where the key stands; its value has an origin of its own. */
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
  /** Null is what nobody wrote: what holds without it holds. */
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
      /** It lay in a workspace, and may be somebody else's: it cannot say where keys and sessions go. */
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

/** What stands at the end of a path; undefined where nothing does. */
export function nodeAt(
  node: ConfigNode | undefined,
  path: readonly string[],
): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>((at, key) => entryOf(at, key)?.node, node);
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
