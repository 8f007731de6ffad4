// A tool as an application writes it: a name, a sentence, its input in short, and a function.
import { fieldsOf, isCount, isObject } from "../message/fields.ts";
import { toToolDefinition } from "../message/tool-definition.ts";
import { messageOf, StrataError } from "../strata-error.ts";
import type { SideEffects, Tool, ToolCallContext, ToolInput, ToolOutput } from "./tool.ts";

/** The type of one input. With `?` it may be missing; with `[]` it is a list. */
export type ShortType = PlainType | `${PlainType}?` | `${PlainType}[]` | `${PlainType}[]?`;

type PlainType = keyof PlainTypes;

interface PlainTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
}

/** Inputs by name, as `{ path: "string", lines: "integer?" }`. */
export type ShortInput = Readonly<Record<string, ShortType>>;

/** A whole JSON schema of an object, within the keywords of docs/tools.md. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly description?: string;
}

/** What `run` is given. */
export type InputOf<Input extends ShortInput | ObjectSchema> = Input extends ObjectSchema
  ? ToolInput
  : {
      readonly [Name in keyof Input as Input[Name] extends `${string}?` ? never : Name]: ValueOf<
        Input[Name]
      >;
    } & {
      readonly [Name in keyof Input as Input[Name] extends `${string}?` ? Name : never]?: ValueOf<
        Input[Name]
      >;
    };

type ValueOf<Short> = Short extends
  | `${infer Plain extends PlainType}[]`
  | `${infer Plain extends PlainType}[]?`
  ? readonly PlainTypes[Plain][]
  : Short extends PlainType | `${infer _ extends PlainType}?`
    ? PlainTypes[Short extends `${infer Plain extends PlainType}?`
        ? Plain
        : Short extends PlainType
          ? Short
          : never]
    : never;

export interface ToolToDefine<Input extends ShortInput | ObjectSchema> {
  readonly name: string;
  readonly description: string;
  /** Nothing by default. */
  readonly input?: Input;
  /** What it does to the world; `execute` by default, the strongest. */
  readonly sideEffects?: SideEffects;
  /** Permissions a session must be granted; none by default. */
  readonly needs?: readonly string[];
  readonly timeoutMs?: number;
  readonly outputBytesMax?: number;
  /** `input` fits its schema. A string is what the model reads; it reads what `run` throws, too. */
  run(input: InputOf<Input>, call: ToolCallContext): ToolText | Promise<ToolText>;
}

type ToolText = string | ToolOutput;

/** For `openEngine`, `createDispatcher` and the workspace world. */
export function defineTool<const Input extends ShortInput | ObjectSchema>(
  tool: ToolToDefine<Input>,
): Tool;
export function defineTool(tool: UntypedTool): Tool {
  checkTool(tool);
  const { name, description, input, sideEffects = "execute", needs = [] } = tool;
  const { timeoutMs, outputBytesMax } = tool;
  return {
    definition: toDefinition(name, description, toSchema(name, input ?? {})),
    needs,
    sideEffects,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(outputBytesMax === undefined ? {} : { outputBytesMax }),
    run: async (given, call) => {
      const result = await tool.run(given, call);
      return typeof result === "string" ? { text: result } : result;
    },
  };
}

/** An application without types may give anything. */
function checkTool(tool: unknown): void {
  const { name, description, run, needs, input, timeoutMs, outputBytesMax, sideEffects } =
    fieldsOf(tool);
  const limits = [timeoutMs, outputBytesMax].filter((limit) => limit !== undefined);
  const wrong = [
    typeof name === "string" && name !== "" ? null : "name must be text",
    typeof description === "string" ? null : "description must be text",
    typeof run === "function" ? null : "run must be a function",
    needs === undefined || isTexts(needs) ? null : "needs must be a list of permissions",
    input === undefined || isObject(input) ? null : "input must be an object",
    limits.every((limit) => isCount(limit) && limit > 0) ? null : "a limit must be a number from 1",
    sideEffects === undefined || typeof sideEffects === "string" ? null : "sideEffects is a word",
  ].find((each) => each !== null);
  if (wrong === undefined) return;
  throw new StrataError(
    "input-invalid",
    `this is no tool: ${wrong}`,
    'give { name: "…", description: "…", input: { path: "string" }, run: ({ path }) => "…" }',
  );
}

/** A schema that is no JSON, such as one within itself, is the caller's mistake. */
function toDefinition(
  name: string,
  description: string,
  inputSchema: Readonly<Record<string, unknown>>,
): Tool["definition"] {
  try {
    return toToolDefinition({ name, description, inputSchema });
  } catch (error) {
    throw new StrataError(
      "input-invalid",
      `the input schema of the tool ${name} is no JSON: ${messageOf(error)}`,
      "give a schema of plain values, without functions, big integers or cycles",
      { cause: error },
    );
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The dispatcher checks an input against the schema, which says the same as the type. */
interface UntypedTool extends Omit<ToolToDefine<ShortInput | ObjectSchema>, "run"> {
  run(input: ToolInput, call: ToolCallContext): ToolText | Promise<ToolText>;
}

function toSchema(
  tool: string,
  input: ShortInput | ObjectSchema,
): Readonly<Record<string, unknown>> {
  if (isSchema(input)) return { ...input };
  const entries = Object.entries(input);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, short]) => [name, toProperty(tool, name, short)]),
    ),
    required: entries.flatMap(([name, short]) => (short.endsWith("?") ? [] : [name])),
    additionalProperties: false,
  };
}

function isSchema(input: ShortInput | ObjectSchema): input is ObjectSchema {
  return input["type"] === "object";
}

function toProperty(tool: string, name: string, short: string): object {
  const match = typeof short === "string" ? shortPattern.exec(short) : null;
  if (match === null) {
    throw new StrataError(
      "input-invalid",
      `the input ${name} of the tool ${tool} is ${typeof short === "string" ? JSON.stringify(short) : typeof short}, which is no type`,
      'give "string", "number", "integer" or "boolean", with [] for a list and ? where it may be missing, or a JSON schema',
    );
  }
  const [, type, list] = match;
  return list === undefined ? { type } : { type: "array", items: { type } };
}

const shortPattern = /^(string|number|integer|boolean)(\[\])?\??$/;
