// How the servers of one protocol differ in what they take. Shared code asks for a property, never for a name.
import { StrataError } from "../strata-error.ts";
import { nearestNames } from "../nearest-names.ts";
import { wiresFile } from "./built-in-files.ts";
import * as read from "./read-fields.ts";
import type { Fields } from "../message/fields.ts";

/** What a server that speaks Chat Completions takes. */
export interface WireRules {
  /** The role of system text. */
  readonly systemRole: (typeof systemRoles)[number];
  /** Where system messages may stand. `at the start`: several only if each can carry a marker. */
  readonly systemMessages: (typeof systemPlaces)[number];
  /** The name of the member that limits a reply. */
  readonly outputLimit: (typeof outputLimits)[number];
  /** `text`: one string wherever there is nothing but text and no marker is taken. */
  readonly content: (typeof contents)[number];
  /** Whether to ask for the usage of a streamed reply. */
  readonly streamUsage: boolean;
  /** Whether it takes `prompt_cache_key`. */
  readonly cacheKey: boolean;
  readonly effort: (typeof efforts)[number];
  /** Whether a reply's schema is taken, and whether it may be strict. */
  readonly outputSchema: (typeof outputSchemas)[number];
  /** What happens to the model's thinking in later calls. */
  readonly thinking: (typeof thinkings)[number];
  readonly toolIds: (typeof toolIdForms)[number];
  /** What must follow the results of tools before the user may speak. */
  readonly afterTools: (typeof afterToolForms)[number];
}

export const systemRoles = ["developer", "system"] as const;
export const systemPlaces = ["anywhere", "at the start", "one, first"] as const;
export const outputLimits = ["max_completion_tokens", "max_tokens"] as const;
export const contents = ["parts", "text"] as const;
export const efforts = ["reasoning_effort", "reasoning", "left out"] as const;
export const outputSchemas = ["strict", "plain", "none"] as const;
export const thinkings = ["left out", "reasoning_content"] as const;
export const toolIdForms = ["any", "nine letters and digits"] as const;
export const afterToolForms = ["any", "assistant"] as const;

/** Rules with their name, their source and their unconfirmed parts. */
export interface NamedWire {
  readonly name: string;
  readonly rules: WireRules;
  readonly source: string;
  readonly unverified: readonly string[];
}

/** Changes by a user; an absent or null one leaves the rule as it is. */
export type WireChanges = {
  readonly [Rule in keyof WireRules]?: WireRules[Rule] | null;
};

const ruleReaders: { readonly [Rule in keyof WireRules]: read.Reader<WireRules[Rule]> } = {
  systemRole: read.choice(systemRoles),
  systemMessages: read.choice(systemPlaces),
  outputLimit: read.choice(outputLimits),
  content: read.choice(contents),
  streamUsage: read.flag,
  cacheKey: read.flag,
  effort: read.choice(efforts),
  outputSchema: read.choice(outputSchemas),
  thinking: read.choice(thinkings),
  toolIds: read.choice(toolIdForms),
  afterTools: read.choice(afterToolForms),
};

const ruleNames: readonly string[] = Object.keys(ruleReaders);

const wires: ReadonlyMap<string, NamedWire> = parseWires(wiresFile, "wires.json");

export const wireNames: readonly string[] = [...wires.keys()];

/** Undefined for a name that is not known. */
export function findWire(name: string): NamedWire | undefined {
  return wires.get(name);
}

/** The rules of an unknown server: what every server takes. */
export const anyServer: WireRules = wireNamed("any server", "wires.json").rules;

export function wireNamed(name: string, place: string): NamedWire {
  const found = wires.get(name);
  if (found !== undefined) return found;
  const [near] = nearestNames(name, wireNames, 1);
  throw new StrataError(
    "config-invalid",
    `${place} names the wire "${name}", which is not known`,
    near === undefined ? `known are: ${wireNames.join(", ")}` : `did you mean "${near}"?`,
  );
}

export function changeWire(rules: WireRules, changes: WireChanges): WireRules {
  const changed = Object.entries(changes).filter(([, value]) => value !== null);
  return changed.length === 0 ? rules : { ...rules, ...Object.fromEntries(changed) };
}

function parseWires(value: unknown, file: string): ReadonlyMap<string, NamedWire> {
  const fields = read.fields(value, file, ["source", "checkedOn", "wires"]);
  read.text(fields["source"], `${file}: source`);
  read.day(fields["checkedOn"], `${file}: checkedOn`);
  const all = read.record(fields["wires"], `${file}: wires`);
  return new Map(Object.keys(all).map((name) => [name, parseWire(all, name, file)]));
}

function parseWire(all: Fields, name: string, file: string): NamedWire {
  const place = `${file}: ${name}`;
  const own = read.fields(all[name], place, ["like", "source", "unverified", ...ruleNames]);
  const base = read.optional(own["like"], `${place}.like`, read.text);
  const inherited = base === null ? {} : parseWire(all, base, file).rules;
  const { like: _, source, unverified, ...rules } = own;
  return {
    name,
    rules: read.shape({ ...inherited, ...rules }, place, ruleReaders),
    source: read.text(source, `${place}.source`),
    unverified: read.list(unverified ?? [], `${place}.unverified`, read.choice(ruleNames)),
  };
}
