// A setting: its meaning, its allowed values, and how it is read. Docs, variables and checks use the same spec.
import type { ConfigNode, Origin, ScalarValue } from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { maskText } from "./mask-secrets.ts";

export interface Spec<Value> {
  /** One line for people. */
  readonly meaning: string;
  readonly shape: Shape;
  /** Under which key it is written, where that is not the name of its field. */
  readonly key?: string;
  /** Reports a wrong value and returns the default; never throws. */
  read(node: ConfigNode | undefined, context: ReadContext): Value;
}

export type Shape = LeafShape | SectionShape | NamedShape | ListShape;

export interface LeafShape {
  readonly kind: "leaf";
  /** Completes "must be", as `true or false`. */
  readonly allowed: string;
  /** The default; null for none. */
  readonly usual: ScalarValue | readonly string[];
  /** From an environment variable. Absent if a variable cannot set it. */
  readonly fromText?: (text: string) => ScalarValue | readonly string[];
  /** What to print of a valid text that may hold a secret. An invalid one is not printed. Without it, the name decides. */
  readonly show?: (text: string, name: string) => string;
}

export interface SectionShape {
  readonly kind: "section";
  readonly keys: ReadonlyMap<string, Spec<unknown>>;
  /** Whether an empty section counts as set. */
  readonly isSwitch: boolean;
}

/** Free names, each with the same settings below it. */
export interface NamedShape {
  readonly kind: "named";
  readonly of: Spec<unknown>;
}

export interface ListShape {
  readonly kind: "list";
  readonly of: Spec<unknown>;
}

export interface ReadContext {
  /** As `llm.context_optimization`. */
  readonly path: string;
  readonly report: (problem: ConfigProblem) => void;
  /** The path of a setting of this name in another place. */
  readonly findElsewhere: (key: string) => string | undefined;
  /** Replaces `~` in a path; null if unknown. */
  readonly homeFolder: string | null;
  /** Whether the tree is the whole configuration, so that a missing value is really missing. */
  readonly isWhole: boolean;
}

export function below(context: ReadContext, key: string): ReadContext {
  return { ...context, path: joinPath(context.path, key) };
}

/** The same for a key of the schema, which needs no masking. */
export function belowKnown(context: ReadContext, key: string): ReadContext {
  return { ...context, path: joinKnown(context.path, key) };
}

export function joinKnown(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** For people: quotes a name with a dot in it, and masks a secret in place of a name. */
export function joinPath(path: string, key: string): string {
  const shown = maskText(key);
  const spelled = /^[\w-]+$/.test(shown) ? shown : JSON.stringify(shown);
  return joinKnown(path, spelled);
}

export function reportError(
  context: ReadContext,
  origin: Origin,
  message: string,
  hint: string,
): void {
  context.report({ severity: "error", origin, message, hint });
}
