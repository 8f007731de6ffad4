// Specs of single values.
import { isNothing, toPlain, type ConfigNode, type ScalarValue } from "./config-node.ts";
import { isSecretName, masked, maskSecrets } from "./mask-secrets.ts";
import { below, reportError, type LeafShape, type ReadContext, type Spec } from "./spec.ts";

interface Leaf<Value> {
  readonly meaning: string;
  readonly allowed: string;
  readonly usual: Value;
  /** Undefined for a value that is not allowed. */
  readonly accept: (
    value: ScalarValue,
    node: ConfigNode,
    context: ReadContext,
  ) => Value | undefined;
  readonly shape: Omit<LeafShape, "kind" | "allowed">;
}

/** Any single value; the other specs here use it. */
export function leaf<Value>({ meaning, allowed, usual, accept, shape }: Leaf<Value>): Spec<Value> {
  return {
    meaning,
    shape: { kind: "leaf", allowed, ...shape },
    read: (node, context) => {
      if (isNothing(node)) return usual;
      const value = node.kind === "scalar" ? accept(node.value, node, context) : undefined;
      if (value !== undefined) return value;
      reportUnfit(node, context, { allowed, ...shape });
      return usual;
    },
  };
}

export function flag(usual: boolean, meaning: string): Spec<boolean> {
  const shape = { usual, fromText: flagFromText };
  return leaf({ meaning, allowed: "true or false", usual, accept: toFlag, shape });
}

/** Null if it is not set. */
export function optionalFlag(meaning: string): Spec<boolean | null> {
  const allowed = "true or false, or nothing to inherit";
  const shape = { usual: null, fromText: flagFromText };
  return leaf<boolean | null>({ meaning, allowed, usual: null, accept: toFlag, shape });
}

export interface WholeRange {
  readonly usual: number;
  readonly min: number;
  readonly max?: number;
}

export function whole({ usual, min, max }: WholeRange, meaning: string): Spec<number> {
  const allowed =
    max === undefined ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`;
  const most = max ?? Number.MAX_SAFE_INTEGER;
  const accept = (value: ScalarValue): number | undefined =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= most
      ? value
      : undefined;
  return leaf({ meaning, allowed, usual, accept, shape: { usual, fromText: numberFromText } });
}

/** Null if it is not set. */
export function optionalWhole(
  { min, max = Number.MAX_SAFE_INTEGER }: Omit<WholeRange, "usual">,
  meaning: string,
): Spec<number | null> {
  return optionalNumber(
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${min}`
      : `a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && value >= min && value <= max,
    meaning,
  );
}

/** Null if it is not set. */
export function optionalNumber(
  allowed: string,
  isFit: (value: number) => boolean,
  meaning: string,
): Spec<number | null> {
  return leaf<number | null>({
    meaning,
    allowed,
    usual: null,
    accept: (value) => (typeof value === "number" && isFit(value) ? value : undefined),
    shape: { usual: null, fromText: numberFromText },
  });
}

/** More than 0, at most 1. */
export function share(usual: number, meaning: string): Spec<number> {
  return leaf({
    meaning,
    allowed: "a number above 0, at most 1",
    usual,
    accept: (value) => (typeof value === "number" && value > 0 && value <= 1 ? value : undefined),
    shape: { usual, fromText: numberFromText },
  });
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  usual: Choice,
  meaning: string,
): Spec<Choice> {
  return oneOf(choices, usual, meaning);
}

/** Any of them; none by default. */
export function someOf<const Choice extends string>(
  all: readonly Choice[],
  meaning: string,
): Spec<readonly Choice[]> {
  const allowed = `a list of ${all.join(", ")}`;
  const item = leaf<Choice | null>({
    meaning,
    allowed: `one of ${all.join(", ")}`,
    usual: null,
    accept: (value) => all.find((each) => each === value),
    shape: { usual: null, fromText: sameText },
  });
  return listOf(item, { usual: [], allowed, meaning });
}

/** Null if it is not set. */
export function optionalChoice<const Choice extends string>(
  choices: readonly Choice[],
  meaning: string,
): Spec<Choice | null> {
  return oneOf<Choice, null>(choices, null, meaning);
}

function oneOf<Choice extends string, Usual extends Choice | null>(
  choices: readonly Choice[],
  usual: Usual,
  meaning: string,
): Spec<Choice | Usual> {
  const accept = (value: ScalarValue): Choice | undefined => choices.find((each) => each === value);
  const allowed = `one of ${choices.join(", ")}`;
  const shape = { usual, fromText: sameText };
  return leaf<Choice | Usual>({ meaning, allowed, usual, accept, shape });
}

/** Null if it is missing or empty. */
export function text(meaning: string, limits: TextLimits = {}): Spec<string | null> {
  const { allowed = "text", isFit = () => true, show, lengthMax = textLengthMax } = limits;
  return leaf<string | null>({
    meaning,
    allowed,
    usual: null,
    accept: (value) => {
      if (typeof value !== "string") return undefined;
      if (value === "") return null;
      return value.length <= lengthMax && isFit(value) ? value : undefined;
    },
    shape: { usual: null, fromText: sameText, ...(show === undefined ? {} : { show }) },
  });
}

/** A setting of others that this product does not have. Set to a value, it is an error that says why. */
export function refused(why: string, hint: string): Spec<null> {
  return {
    meaning: `refused: ${why}`,
    shape: { kind: "leaf", allowed: "nothing", usual: null },
    read: (node, context) => {
      const isUnset = isNothing(node) || (node.kind === "scalar" && node.value === "");
      if (!isUnset) reportError(context, node.origin, `${context.path} is refused: ${why}`, hint);
      return null;
    },
  };
}

export interface TextLimits extends Pick<LeafShape, "show"> {
  readonly allowed?: string;
  readonly isFit?: (text: string) => boolean;
  readonly lengthMax?: number;
}

/** A part of a prompt, in several lines where one does not do. */
export function prose(meaning: string): Spec<string | null> {
  return text(meaning, {
    allowed: `text of at most ${proseLengthMax} characters`,
    lengthMax: proseLengthMax,
  });
}

const proseLengthMax = 100_000;

export function texts(usual: readonly string[], meaning: string): Spec<readonly string[]> {
  return textList(usual, meaning);
}

/** Null if it is not set, which differs from an empty list. */
export function optionalTexts(meaning: string): Spec<readonly string[] | null> {
  return textList(null, meaning);
}

function textList<Usual extends readonly string[] | null>(
  usual: Usual,
  meaning: string,
): Spec<readonly string[] | Usual> {
  return listOf(text(meaning), { usual, allowed: "a list of texts", meaning });
}

/** Items that are missing or not allowed are left out; the latter are reported. */
function listOf<Item extends string, Usual extends readonly Item[] | null>(
  item: Spec<Item | null>,
  { usual, allowed, meaning }: { usual: Usual; allowed: string; meaning: string },
): Spec<readonly Item[] | Usual> {
  return {
    meaning,
    shape: { kind: "leaf", allowed, usual, fromText: listFromText },
    read: (node, context) => {
      if (isNothing(node)) return usual;
      if (node.kind === "list") {
        return node.items.flatMap(
          (each, index) => item.read(each, below(context, String(index))) ?? [],
        );
      }
      reportUnfit(node, context, { allowed, usual });
      return usual;
    },
  };
}

/** Any content; the caller checks it. */
export function anything(meaning: string): Spec<unknown> {
  return {
    meaning,
    shape: { kind: "leaf", allowed: "names with values", usual: null },
    read: (node) => (isNothing(node) ? null : toPlain(node)),
  };
}

const textLengthMax = 4096;

/** Shows the beginning of the value, unless it is or may hold a secret. */
export function reportUnfit(
  node: ConfigNode,
  context: ReadContext,
  { allowed, usual, show }: Pick<LeafShape, "allowed" | "usual" | "show">,
): void {
  const isUnquoted =
    node.kind === "scalar" && typeof node.value !== "string" && allowed.startsWith("text");
  // A number is never a secret, even if its name looks like one, as tail_keep_tokens does.
  const isCount = /number|true/.test(allowed);
  const otherwise =
    usual === null || Array.isArray(usual) ? "remove it" : `remove it for ${String(usual)}`;
  const isHidden = show !== undefined && node.kind === "scalar";
  const found = isHidden
    ? "must be"
    : `is ${showNode(node, isCount ? "" : context.path)}, but must be`;
  reportError(
    context,
    node.origin,
    `${context.path} ${found} ${allowed}`,
    `${isUnquoted ? "put quotes around it" : "correct it"}, or ${otherwise}`,
  );
}

function showNode(node: ConfigNode, path: string): string {
  if (node.kind === "map") return "a group of settings";
  if (node.kind === "list") return "a list";
  const name = path.slice(path.lastIndexOf(".") + 1);
  if (isSecretName(name) && typeof node.value !== "boolean") return masked;
  const value = maskSecrets(node.value, name);
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length <= 60 ? value : `${value.slice(0, 60).toWellFormed()}…`);
}

function flagFromText(given: string): ScalarValue {
  const word = given.toLowerCase();
  return word === "true" ? true : word === "false" ? false : given;
}

function numberFromText(given: string): ScalarValue {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(given) ? Number(given) : given;
}

function listFromText(given: string): readonly string[] {
  return given.split(",").flatMap((each) => (each.trim() === "" ? [] : [each.trim()]));
}

function toFlag(value: ScalarValue): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function sameText(given: string): string {
  return given;
}
