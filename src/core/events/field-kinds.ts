// The kinds of payload fields: hashes, sizes, names and closed lists. Free text is the exception, and is redacted.
import { isUlid } from "../message/validate-message.ts";
import { freeTextLengthMax } from "./redact.ts";

interface KindValues {
  readonly name: string;
  readonly path: string;
  readonly "free text": string;
  readonly hash: string;
  readonly "short hash": string;
  readonly "event id": string;
  readonly usd: string;
  readonly count: number;
  readonly ms: number;
  readonly seconds: number;
  readonly flag: boolean;
  readonly names: readonly string[];
  readonly paths: readonly string[];
  readonly "free texts": readonly string[];
}

export type FieldKind = keyof KindValues;

/** A kind, with `?` if the field is optional or `or null` if it may be null; or a list of allowed values. */
export type FieldSpec =
  | FieldKind
  | `${FieldKind}?`
  | `${FieldKind} or null`
  | readonly (string | null)[];

export type FieldValue<Spec> = Spec extends readonly (infer Value)[]
  ? Value
  : Spec extends `${infer Name extends FieldKind}?`
    ? KindValues[Name]
    : Spec extends `${infer Name extends FieldKind} or null`
      ? KindValues[Name] | null
      : Spec extends FieldKind
        ? KindValues[Spec]
        : never;

/** The limit for lists in a payload. A longer list belongs with the content. */
export const listLengthMax = 100;

interface Kind {
  /** Completes the sentence "must be …". */
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const kinds: Readonly<Record<FieldKind, Kind>> = {
  name: { expected: "a name of 1 to 256 characters", holds: isName },
  path: { expected: "a path of 1 to 4096 characters", holds: isPath },
  "free text": { expected: `text of at most ${freeTextLengthMax} characters`, holds: isFreeText },
  hash: { expected: "a SHA-256 in hex", holds: (value) => matches(value, /^[0-9a-f]{64}$/) },
  "short hash": { expected: "16 hex digits", holds: (value) => matches(value, /^[0-9a-f]{16}$/) },
  "event id": { expected: "a ULID", holds: (value) => typeof value === "string" && isUlid(value) },
  usd: {
    expected: "dollars as decimal text like 0.0125",
    holds: (value) => matches(value, /^-?\d{1,30}(\.\d{1,12})?$/),
  },
  count: {
    expected: "a whole number from 0",
    holds: (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
  },
  ms: { expected: "milliseconds from 0", holds: isDuration },
  seconds: { expected: "seconds from 0", holds: isDuration },
  flag: { expected: "true or false", holds: (value) => typeof value === "boolean" },
  names: { expected: `at most ${listLengthMax} names`, holds: (value) => isListOf(value, isName) },
  paths: { expected: `at most ${listLengthMax} paths`, holds: (value) => isListOf(value, isPath) },
  "free texts": {
    expected: `at most ${listLengthMax} short texts`,
    holds: (value) => isListOf(value, isFreeText),
  },
};

export interface Field {
  readonly kind: FieldKind | null;
  readonly isOptional: boolean;
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

export function readField(spec: FieldSpec): Field {
  if (typeof spec !== "string") {
    const expected = `one of ${spec.map(String).join(", ")}`;
    return {
      kind: null,
      isOptional: false,
      expected,
      holds: (value) => isOneOf(spec, value),
    };
  }
  const isOptional = spec.endsWith("?");
  const orNull = spec.endsWith(" or null");
  const name = spec.replace("?", "").replace(" or null", "");
  const kind = isFieldKind(name) ? name : "name";
  const { expected, holds } = kinds[kind];
  return {
    kind,
    isOptional,
    expected: orNull ? `${expected}, or null` : expected,
    holds: orNull ? (value) => value === null || holds(value) : holds,
  };
}

export function isName(value: unknown): value is string {
  return matches(value, /^[^\p{Cc}\p{Cs}]{1,256}$/u);
}

function isFieldKind(name: string): name is FieldKind {
  return Object.hasOwn(kinds, name);
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= 4096;
}

function isFreeText(value: unknown): boolean {
  return typeof value === "string" && value.length <= freeTextLengthMax;
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isListOf(value: unknown, holds: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= listLengthMax && value.every(holds);
}

function isOneOf(values: readonly (string | null)[], value: unknown): boolean {
  return values.some((each) => each === value);
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}
