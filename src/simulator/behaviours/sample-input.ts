// Calls of a client's tools, with a deterministic input that the tool's JSON schema accepts.
import { isFields, type Fields } from "../../core/models/read-fields.ts";
import type { Prompt, PromptTool, ReplyPart } from "../prompt.ts";

/** A call of the forced tool; null if the client leaves the choice to the model. */
export function forcedCall(prompt: Prompt): ReplyPart | null {
  const { toolChoice } = prompt;
  if (toolChoice === "auto" || toolChoice === "none") return null;
  const { tools } = prompt;
  const tool = toolChoice === "any" ? tools[0] : tools.find(({ name }) => name === toolChoice.name);
  return tool === undefined ? null : toCall(tool);
}

/** A call whose input is valid by the tool's schema. Properties named in `wishes` get those values. */
export function toCall(tool: PromptTool, wishes: Wishes = {}): ReplyPart {
  const input = tool.inputSchema === null ? "sample" : sampleInput(tool.inputSchema, wishes);
  return { kind: "tool use", name: tool.name, inputJson: JSON.stringify(input) };
}

/** Preferred values by property name, used if the schema has the property and accepts the value. */
export type Wishes = Readonly<Record<string, unknown>>;

export function sampleInput(schema: unknown, wishes: Wishes = {}): unknown {
  const sampled = sample(schema, "", { root: schema, wishes, depth: 0 });
  return isFields(sampled) ? sampled : {};
}

/** False where the schema asks for text of a form that the sample does not have. */
export function canFill({ inputSchema }: PromptTool, wishes: Wishes = {}): boolean {
  let fills = inputSchema !== null;
  const refuse = (): void => {
    fills = false;
  };
  sample(inputSchema, "", { root: inputSchema, wishes, depth: 0, refuse });
  return fills;
}

interface Sampling {
  readonly root: unknown;
  /** Called for a text that does not have the form it should have. */
  readonly refuse?: () => void;
  readonly wishes: Wishes;
  readonly depth: number;
}

/** Schemas can be recursive. */
const depthMax = 8;

function sample(given: unknown, name: string, sampling: Sampling): unknown {
  const schema = resolve(given, sampling.root);
  if (sampling.depth > depthMax) return null;
  const fixed = schema["const"] ?? first(schema["enum"]);
  if (fixed !== undefined) return fixed;
  const choice = firstOf(schema, sampling.root);
  if (choice !== null) return sample(choice, name, deeper(sampling));
  const type = typeOf(schema);
  const wish = Object.hasOwn(sampling.wishes, name) ? sampling.wishes[name] : undefined;
  if (wish !== undefined && fits(wish, type)) return wish;
  if (wish !== undefined && type === "array" && typeof wish === "string") return [wish];
  if (schema["default"] !== undefined) return schema["default"];
  switch (type) {
    case "object":
      return sampleObject(schema, sampling);
    case "array":
      return Array.from({ length: Math.min(itemsMax, numberOr(schema["minItems"], 0)) }, () =>
        sample(schema["items"], name, deeper(sampling)),
      );
    case "string": {
      const text = sampleText(schema, name);
      if (!hasForm(text, schema["pattern"])) sampling.refuse?.();
      return text;
    }
    case "integer":
    case "number":
      return sampleNumber(schema);
    case "boolean":
      return false;
    default:
      return null;
  }
}

/** Limits the sample: a schema may ask for any number of items. */
const itemsMax = 100;
const charactersMax = 10_000;

function sampleObject(schema: Fields, sampling: Sampling): Fields {
  const properties = isFields(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const wanted = Object.keys(properties).filter(
    (name) => required.includes(name) || isWished(name, properties[name], sampling),
  );
  return Object.fromEntries(
    wanted.map((name) => [name, sample(properties[name], name, deeper(sampling))]),
  );
}

function isWished(name: string, schema: unknown, { wishes, root }: Sampling): boolean {
  if (!Object.hasOwn(wishes, name)) return false;
  const resolved = resolve(schema, root);
  const type = typeOf(firstOf(resolved, root) ?? resolved);
  return fits(wishes[name], type) && !("enum" in resolved) && !("const" in resolved);
}

function fits(wish: unknown, type: string): boolean {
  return Array.isArray(wish) ? type === "array" : typeof wish === type;
}

/** Follows local references and merges the parts of `allOf`. */
function resolve(given: unknown, root: unknown): Fields {
  let schema = isFields(given) ? given : {};
  for (let hops = 0; hops < depthMax && typeof schema["$ref"] === "string"; hops += 1) {
    schema = follow(schema["$ref"], root);
  }
  const parts = schema["allOf"];
  if (!Array.isArray(parts)) return schema;
  return parts.reduce<Fields>((whole, part) => merge(whole, resolve(part, root)), schema);
}

function follow(reference: string, root: unknown): Fields {
  let place: unknown = root;
  for (const step of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    place = isFields(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return isFields(place) ? place : {};
}

function merge(left: Fields, right: Fields): Fields {
  const both = (name: string): Fields => ({
    ...(isFields(left[name]) ? left[name] : {}),
    ...(isFields(right[name]) ? right[name] : {}),
  });
  const required = [left["required"], right["required"]].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return { ...left, ...right, properties: both("properties"), required };
}

/** The first alternative other than null. */
function firstOf(schema: Fields, root: unknown): Fields | null {
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(choices)) return null;
  const resolved = choices.map((choice) => resolve(choice, root));
  return resolved.find((choice) => typeOf(choice) !== "null") ?? resolved[0] ?? null;
}

function typeOf(schema: Fields): string {
  const { type } = schema;
  if (typeof type === "string") return type;
  const named: unknown = Array.isArray(type) ? type.find((each) => each !== "null") : undefined;
  if (typeof named === "string") return named;
  if ("properties" in schema) return "object";
  return "items" in schema ? "array" : "string";
}

const formats: Readonly<Record<string, string>> = {
  date: "2026-11-15",
  "date-time": "2026-11-15T12:00:00Z",
  time: "12:00:00Z",
  email: "someone@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function sampleText(schema: Fields, name: string): string {
  const { format } = schema;
  const formatted = typeof format === "string" ? formats[format] : undefined;
  const text = formatted ?? (name === "" ? "sample" : `sample ${name.replaceAll("_", " ")}`);
  const atLeast = text.padEnd(Math.min(charactersMax, numberOr(schema["minLength"], 0)), "x");
  return atLeast.slice(0, numberOr(schema["maxLength"], atLeast.length));
}

function hasForm(text: string, pattern: unknown): boolean {
  if (typeof pattern !== "string") return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return false;
  }
}

function sampleNumber(schema: Fields): number {
  const step = numberOr(schema["multipleOf"], 1);
  const least = Math.max(
    numberOr(schema["minimum"], Number.NEGATIVE_INFINITY),
    numberOr(schema["exclusiveMinimum"], Number.NEGATIVE_INFINITY) + step,
  );
  const most = Math.min(
    numberOr(schema["maximum"], Number.POSITIVE_INFINITY),
    numberOr(schema["exclusiveMaximum"], Number.POSITIVE_INFINITY) - step,
  );
  return Math.min(Math.max(step, Math.ceil(least / step) * step), most);
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function first(list: unknown): unknown {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  return items[0];
}

function deeper(sampling: Sampling): Sampling {
  return { ...sampling, depth: sampling.depth + 1 };
}
