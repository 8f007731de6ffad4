// Specs made of specs: groups of settings, names that the writer chooses, and lists.
import { nearestNames } from "../nearest-names.ts";
import {
  entryOf,
  isNothing,
  type ConfigEntry,
  type ConfigMap,
  type ConfigNode,
} from "./config-node.ts";
import { masked } from "./mask-secrets.ts";
import { below, belowKnown, joinPath, reportError, type ReadContext, type Spec } from "./spec.ts";

type Specs<Values> = { readonly [Key in keyof Values]: Spec<Values[Key]> };

/** Gives the value of a key; to be asked once for each. */
type Get<Values> = <Key extends string & keyof Values>(key: Key) => Values[Key];

export interface Surroundings {
  /** Undefined where nobody wrote the section. */
  readonly node: ConfigNode | undefined;
  readonly context: ReadContext;
}

/** A closed list of keys; what is read from them becomes a value of our own form. */
export function section<Values, Value>(
  meaning: string,
  specs: Specs<Values>,
  build: (get: Get<Values>, around: Surroundings) => Value,
  { isSwitch = false }: { readonly isSwitch?: boolean } = {},
): Spec<Value> {
  const keys = new Map<string, Spec<unknown>>(Object.entries<Spec<unknown>>(specs));
  return {
    meaning,
    shape: { kind: "section", keys, isSwitch },
    read: (node, context) => {
      const there = isNothing(node) ? undefined : node;
      const map = asMap(there, context);
      for (const entry of map?.entries ?? []) {
        if (!keys.has(entry.key)) reportUnknown(entry, [...keys.keys()], context);
      }
      return build((key) => specs[key].read(entryOf(map, key)?.node, belowKnown(context, key)), {
        node: there,
        context,
      });
    },
  };
}

/** Any names, in the order in which they were written. */
export function named<Value>(meaning: string, of: Spec<Value>): Spec<ReadonlyMap<string, Value>> {
  return {
    meaning,
    shape: { kind: "named", of },
    read: (node, context) => {
      const entries = asMap(isNothing(node) ? undefined : node, context)?.entries ?? [];
      const read = entries.map((entry): [string, Value] => {
        checkName(entry, context);
        return [entry.key, of.read(entry.node, below(context, entry.key))];
      });
      return new Map(read);
    },
  };
}

export function listOf<Value>(meaning: string, of: Spec<Value>): Spec<readonly Value[]> {
  return {
    meaning,
    shape: { kind: "list", of },
    read: (node, context) => {
      if (isNothing(node)) return [];
      if (node.kind === "list") {
        return node.items.map((item, index) => of.read(item, below(context, String(index))));
      }
      reportError(
        context,
        node.origin,
        `${context.path} is no list`,
        "begin each item on a line of its own with a dash",
      );
      return [];
    },
  };
}

export const inWorkspace = "cannot be set in a file that lies in a workspace";

/** Not in a file that came with a workspace: it may be somebody else's. */
export function ownOnly<Value>(spec: Spec<Value>): Spec<Value> {
  return {
    ...spec,
    read: (node, context) => {
      if (node?.origin.kind === "file" && node.origin.isFound) {
        reportError(
          context,
          node.origin,
          `${context.path} ${inWorkspace}, which may be somebody else's`,
          "set it in your own file (strata config path names it), or name this file with --config or STRATA_CONFIG",
        );
      }
      return spec.read(node, context);
    },
  };
}

function asMap(node: ConfigNode | undefined, context: ReadContext): ConfigMap | undefined {
  if (node === undefined || node.kind === "map") return node;
  const what = context.path === "" ? "the configuration" : context.path;
  reportError(
    context,
    node.origin,
    `${what} is ${node.kind === "list" ? "a list" : "a single value"}, but must be a group of settings`,
    "write its settings below it, indented, as name: value",
  );
  return undefined;
}

function reportUnknown(
  { key, origin }: ConfigEntry,
  known: readonly string[],
  context: ReadContext,
): void {
  const short =
    key.length <= nameLengthMax ? key : `${key.slice(0, nameLengthMax).toWellFormed()}…`;
  const [near] = nearestNames(short, known, 1);
  // The very name in another place is a better guess than another name in this one.
  const guess = context.findElsewhere(key) ?? near;
  const shown = guess === undefined && looksLikeKey(key) ? masked : short;
  const hint = guess === undefined ? `known here: ${known.join(", ")}` : `did you mean ${guess}?`;
  reportError(context, origin, `${joinPath(context.path, shown)} is no setting`, hint);
}

/** Nobody names a setting so; a key in the place of a name may be a real one. */
function looksLikeKey(name: string): boolean {
  return name.length >= 16 && /\d/.test(name) && /[a-z]/i.test(name);
}

function checkName({ key, origin }: ConfigEntry, context: ReadContext): void {
  if (key !== "" && key.length <= nameLengthMax && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(key)) return;
  reportError(
    context,
    origin,
    `a name below ${context.path} is empty, longer than ${nameLengthMax} characters, or has control characters`,
    "choose a short name",
  );
}

const nameLengthMax = 128;
