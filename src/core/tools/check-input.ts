// Parses the input a model wrote for a tool and checks it against the schema. Lists every violation with its place,
// so that one retry can fix all.
import { isObject } from "../message/fields.ts";
import { nearestNames } from "../nearest-names.ts";
import type { JsonText } from "../message/message.ts";
import { pointerTo, type InputSchema, type SchemaType } from "./input-schema.ts";
import type { ToolInput } from "./tool.ts";

export type ParsedInput =
  | { readonly input: ToolInput; readonly problem: null }
  | { readonly input: null; readonly problem: string };

/** Empty text counts as an empty object: models send it for no input. Never throws. */
export function parseInput(json: JsonText, charactersMax: number): ParsedInput {
  if (json.length > charactersMax) {
    return refuse(`has ${json.length} characters; ${charactersMax} are taken at most`);
  }
  if (json.trim() === "") return { input: {}, problem: null };
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? { input: value, problem: null } : refuse("must be a JSON object");
  } catch (error) {
    // The parser's message quotes the input; only the position helps.
    const place = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
    return refuse(`is not JSON${place === undefined ? "" : ` (at ${place})`}`);
  }
}

function refuse(problem: string): ParsedInput {
  return { input: null, problem };
}

export interface InputViolation {
  /** A JSON pointer. Empty for the input itself. */
  readonly path: string;
  readonly problem: string;
}

/** Further violations are only counted. */
export const violationsMax = 50;

/** Empty if the input fits. Never throws for any value. */
export function checkInput(schema: InputSchema, value: unknown): readonly InputViolation[] {
  const violations: InputViolation[] = [];
  let leftOut = 0;
  check(schema, value, "", (path, problem) => {
    if (violations.length === violationsMax) leftOut += 1;
    else violations.push({ path: path.slice(0, 200), problem: toText(problem) });
  });
  if (leftOut > 0) violations.push({ path: "", problem: `breaks ${leftOut} more rules` });
  return violations;
}

/** The sentence the model sees. */
export function describeViolation({ path, problem }: InputViolation): string {
  return path === "" ? `the input ${problem}` : `${path} ${problem}`;
}

type Report = (path: string, problem: string | (() => string)) => void;

function toText(problem: string | (() => string)): string {
  return typeof problem === "string" ? problem : problem();
}

function check(schema: InputSchema, value: unknown, path: string, report: Report): void {
  if (schema.type !== undefined && !isOfType(schema.type, value)) {
    report(path, `must be ${spelling[schema.type]}, not ${describe(value)}`);
    return;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const values = schema.enum.map((each) => JSON.stringify(each)).join(", ");
    report(path, `must be one of ${values}, not ${describe(value)}`);
    return;
  }
  if (typeof value === "string") checkText(schema, value, path, report);
  else if (typeof value === "number") checkNumber(schema, value, path, report);
  else if (Array.isArray(value)) checkItems(schema, value, path, report);
  else if (isObject(value)) checkProperties(schema, value, path, report);
}

const spelling: Readonly<Record<SchemaType, string>> = {
  object: "an object",
  array: "a list",
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};

function isOfType(type: SchemaType, value: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "integer":
      // Parsing already changed larger numbers.
      return Number.isSafeInteger(value);
    case "null":
      return value === null;
  }
}

function describe(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length <= 40 ? value : `${value.slice(0, 40)}…`);
  }
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : String(value);
}

function checkText({ bounds }: InputSchema, text: string, path: string, report: Report): void {
  if (!text.isWellFormed()) report(path, "holds half a character (a lone surrogate)");
  const { minLength = 0, maxLength = Infinity } = bounds;
  const length = countCharacters(text);
  if (length < minLength) {
    report(
      path,
      minLength === 1 ? "must not be empty" : `must have ${minLength} characters or more`,
    );
  }
  if (length > maxLength) report(path, `must have at most ${maxLength} characters`);
}

/** Counts like JSON Schema: a surrogate pair is one character. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

function checkNumber({ bounds }: InputSchema, value: number, path: string, report: Report): void {
  const { minimum = -Infinity, maximum = Infinity } = bounds;
  if (value < minimum) report(path, `must be ${minimum} or more`);
  if (value > maximum) report(path, `must be ${maximum} or less`);
}

function checkItems(
  { bounds, items }: InputSchema,
  list: readonly unknown[],
  path: string,
  report: Report,
): void {
  const { minItems = 0, maxItems = Infinity } = bounds;
  if (list.length < minItems) report(path, `must have ${minItems} items or more`);
  if (list.length > maxItems) report(path, `must have at most ${maxItems} items`);
  if (items === undefined) return;
  for (const [index, item] of list.entries()) check(items, item, pointerTo(path, index), report);
}

function checkProperties(
  { properties, required, takesMore }: InputSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  for (const name of required) {
    if (!Object.hasOwn(value, name)) report(pointerTo(path, name), "is missing");
  }
  for (const [name, each] of Object.entries(value)) {
    const schema = properties.get(name);
    if (schema !== undefined) check(schema, each, pointerTo(path, name), report);
    else if (!takesMore) {
      report(pointerTo(path, name), () => unknownName(name, [...properties.keys()]));
    }
  }
}

function unknownName(name: string, known: readonly string[]): string {
  const [near] = nearestNames(name.slice(0, 64), known, 1);
  return near === undefined ? "is not known" : `is not known; did you mean ${near}?`;
}
