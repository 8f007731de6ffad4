// All settings by path: to print them with their origins, for the docs, and to find misplaced ones.
import * as tree from "./config-node.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { schema } from "./schema.ts";
import { joinKnown, joinPath, type LeafShape, type Spec } from "./spec.ts";

export interface Setting {
  /** As `llm.context_optimization.compaction.enabled`. */
  readonly path: string;
  /** As in a file, with secrets masked. */
  readonly value: unknown;
  readonly origin: tree.Origin;
  readonly meaning: string;
}

/** All settings in effect, written or default. */
export function listSettings(root: tree.ConfigNode | undefined): readonly Setting[] {
  return settingsOf(schema, root, "", "");
}

/** As `/srv/ana/strata.yaml:12`. */
export function originOf({ origin }: Setting): string {
  return tree.describeOrigin(origin);
}

export interface DescribedSetting {
  /** With `NAME` for a free name, and `N` for a place in a list. */
  readonly path: string;
  readonly meaning: string;
  readonly allowed: string;
  readonly usual: LeafShape["usual"];
  /** Whether an environment variable can set it. */
  readonly isInEnvironment: boolean;
}

/** All settings of the schema. */
export function describeSettings(): readonly DescribedSetting[] {
  return describe(schema, "");
}

/** The path of the only setting with this last key; undefined if there are none or several. */
export function findElsewhere(key: string): string | undefined {
  const found = pathsByKey.get(key) ?? [];
  return found.length === 1 ? found[0] : undefined;
}

function settingsOf(
  { shape, meaning }: Spec<unknown>,
  node: tree.ConfigNode | undefined,
  path: string,
  name: string,
): readonly Setting[] {
  const origin: tree.Origin = tree.isNothing(node) ? { kind: "default" } : node.origin;
  const one = (value: unknown): readonly Setting[] => [
    { path, value: maskSecrets(value, name), origin, meaning },
  ];
  const toSetting = ({ show }: LeafShape, given: tree.ConfigNode): Setting => {
    const plain = tree.toPlain(given);
    const isShown = show !== undefined && typeof plain === "string";
    const value = isShown ? show(plain, name) : maskSecrets(plain, name);
    return { path, value, origin, meaning };
  };
  switch (shape.kind) {
    case "leaf":
      return tree.isNothing(node) ? one(shape.usual) : [toSetting(shape, node)];
    case "list":
      return one(tree.isNothing(node) ? [] : tree.toPlain(node));
    case "named":
      return (node?.kind === "map" ? node.entries : []).flatMap((entry) =>
        settingsOf(shape.of, entry.node, joinPath(path, entry.key), entry.key),
      );
    case "section":
      if (shape.isSwitch && tree.isNothing(node)) return one(null);
      return [...shape.keys].flatMap(([key, spec]) =>
        settingsOf(spec, tree.entryOf(node, key)?.node, joinKnown(path, key), key),
      );
  }
}

function describe({ shape, meaning }: Spec<unknown>, path: string): readonly DescribedSetting[] {
  switch (shape.kind) {
    case "leaf": {
      const { allowed, usual, fromText } = shape;
      // A variable cannot name a place in a list.
      const isInEnvironment = fromText !== undefined && !/\.N(?:\.|$)/.test(path);
      return [{ path, meaning, allowed, usual, isInEnvironment }];
    }
    case "list":
      return describe(shape.of, `${path}.N`);
    case "named":
      return describe(shape.of, `${path}.NAME`);
    case "section":
      return [...shape.keys].flatMap(([key, spec]) => describe(spec, joinKnown(path, key)));
  }
}

/** Paths of sections and settings, without those below free names. */
function describeSections({ shape }: Spec<unknown>, path: string): readonly string[] {
  if (shape.kind !== "section") return [path];
  const below = [...shape.keys].flatMap(([key, spec]) =>
    describeSections(spec, joinKnown(path, key)),
  );
  return path === "" ? below : [path, ...below];
}

const pathsByKey: ReadonlyMap<string, readonly string[]> = Map.groupBy(
  describeSections(schema, ""),
  (path) => path.split(".").at(-1) ?? "",
);
