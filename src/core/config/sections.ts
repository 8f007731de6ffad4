// Specs made of specs: groups of settings, maps with free names, and lists.
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

/**
 * A closed list of keys. Each field is written under its own name in snake case, as `connect_ms` for `connectMs`; one that
 * is written otherwise is made with `written`.
 */
export function group<Value extends object>(meaning: string, fields: Specs<Value>): Spec<Value> {
  const entries = Object.entries<Spec<unknown>>(fields);
  const keyed = entries.map(([field, spec]) => ({ field, key: spec.key ?? toKey(field), spec }));
  const specs = Object.fromEntries(keyed.map(({ key, spec }) => [key, spec]));
  return section<Record<string, unknown>, Value>(meaning, specs, (get) => {
    const values = Object.fromEntries(keyed.map(({ field, key }) => [field, get(key)]));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was read by the spec of that field
    return values as Value;
  });
}

function toKey(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Written under another key than the field's name. */
export function written<Value>(key: string, spec: Spec<Value>): Spec<Value> {
  return { ...spec, key };
}

/** Read as the spec says, and then kept in another form. */
export function converted<Written, Value>(
  spec: Spec<Written>,
  convert: (value: Written) => Value,
): Spec<Value> {
  return { ...spec, read: (node, context) => convert(spec.read(node, context)) };
}

/** Gives the value of a key; to be called once for each. */
type Get<Values> = <Key extends string & keyof Values>(key: Key) => Values[Key];

export interface Surroundings {
  /** Undefined if the section is not written. */
  readonly node: ConfigNode | undefined;
  readonly context: ReadContext;
}

/** A closed list of keys, from whose values `build` makes another one. */
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

/** A map with free names, in the order of the file. */
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
        `${context.path} is not a list`,
        "write each item on its own line, with a dash before it",
      );
      return [];
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
  // The same name in another section is a better guess than a similar name here.
  const guess = context.findElsewhere(key) ?? near;
  const shown = guess === undefined && looksLikeKey(key) ? masked : short;
  const hint = guess === undefined ? `known here: ${known.join(", ")}` : `did you mean ${guess}?`;
  reportError(context, origin, `${joinPath(context.path, shown)} is not a setting`, hint);
}

/** No setting is named like this, so it may be a real key in the wrong place. */
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
