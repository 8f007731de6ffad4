// What a setting is: its meaning, what may be written, and how it is read. Docs, variables and checks all read the same spec.
import type { ConfigNode, Origin, ScalarValue } from "./config-node.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { maskText } from "./mask-secrets.ts";

export interface Spec<Value> {
  /** One line for people. */
  readonly meaning: string;
  readonly shape: Shape;
  /** What is wrong is reported, and the default taken; nothing is thrown. */
  read(node: ConfigNode | undefined, context: ReadContext): Value;
}

export type Shape = LeafShape | SectionShape | NamedShape | ListShape;

export interface LeafShape {
  readonly kind: "leaf";
  /** As `true or false`, to stand after "must be". */
  readonly allowed: string;
  /** What holds where nobody wrote anything; null for none. */
  readonly usual: ScalarValue | readonly string[];
  /** From a variable of the environment. Absent where a variable cannot say it. */
  readonly fromText?: (text: string) => ScalarValue | readonly string[];
  /** What may be printed of a fit text that can hold a secret; of an unfit one nothing is. By its name otherwise. */
  readonly show?: (text: string, name: string) => string;
}

export interface SectionShape {
  readonly kind: "section";
  readonly keys: ReadonlyMap<string, Spec<unknown>>;
  /** To write it, even without anything in it, means something. */
  readonly isSwitch: boolean;
}

/** Names that the writer chooses, each with the same things below it. */
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
  /** What `~` stands for in a path; null where it is not known. */
  readonly homeFolder: string | null;
  /** The tree is everything there is, not one file of several: what is missing is missing. */
  readonly isWhole: boolean;
}

export function below(context: ReadContext, key: string): ReadContext {
  return { ...context, path: joinPath(context.path, key) };
}

/** The same for a key of the schema, which needs no care. */
export function belowKnown(context: ReadContext, key: string): ReadContext {
  return { ...context, path: joinKnown(context.path, key) };
}

export function joinKnown(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** For people. A name with a dot in it is quoted, so that a path can be read; a key in its place is not shown. */
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
