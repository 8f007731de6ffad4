// Tools and the choice of them: functions of the client, and tools that the provider runs.
import { invalid } from "../api-error.ts";
import { compactJson, toPlainValue, type Json } from "../../json-source.ts";
import { fields, find, type Place } from "./fields.ts";
import { toSnakePath } from "./known-fields.ts";

/** One function, or one tool of the provider. */
export interface ToolEntry {
  /** The text that is hashed and counted. */
  readonly source: string;
  /** Null for a tool that the provider runs: the simulated model never calls it. */
  readonly definition: FunctionDefinition | null;
}

export interface FunctionDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

export function readTools(body: Place): readonly ToolEntry[] {
  return (fields.findPlaces(body, "tools") ?? []).flatMap((tool) => {
    const declared = (fields.findPlaces(tool, "functionDeclarations") ?? []).map(readFunction);
    const hosted = [...tool.object.fields]
      .filter(([key]) => key !== "functionDeclarations")
      .map(([key, value]) => ({
        source: `${JSON.stringify(key)}:${compactJson(value)}`,
        definition: null,
      }));
    return [...declared, ...hosted];
  });
}

function readFunction(place: Place): ToolEntry {
  const name = fields.findText(place, "name") ?? "";
  if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(name)) {
    throw invalid(
      `* GenerateContentRequest.${toSnakePath(place.path)}.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n`,
    );
  }
  const schema = fields.findPlace(place, "parameters");
  const jsonSchema = find(place, "parametersJsonSchema");
  return {
    source: compactJson(place.object),
    definition: {
      name,
      description: fields.findText(place, "description") ?? "",
      inputSchema: schema === null ? plainOr(jsonSchema) : lowerTypes(toPlainValue(schema.object)),
    },
  };
}

function plainOr(schema: Json | null): unknown {
  return schema === null ? {} : toPlainValue(schema);
}

/** Google spells the types of its own schemas in upper case. */
function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [
      key,
      key === "type" && typeof value === "string" ? value.toLowerCase() : lowerTypes(value),
    ]),
  );
}

export interface ToolChoice {
  readonly mode: (typeof modes)[number];
  /** Null if every function is allowed. */
  readonly allowed: readonly string[] | null;
  /** As the client sent it, for comparing; empty without one. */
  readonly source: string;
}

const modes = ["AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"] as const;

export const freeChoice: ToolChoice = { mode: "AUTO", allowed: null, source: "" };

export function readToolChoice(body: Place): ToolChoice {
  const config = fields.findPlace(body, "toolConfig");
  const calling = config === null ? null : fields.findPlace(config, "functionCallingConfig");
  if (config === null || calling === null) return freeChoice;
  const mode = fields.findOneOf(calling, "mode", modes) ?? "AUTO";
  const allowed = fields.findList(calling, "allowedFunctionNames");
  const names = allowed?.flatMap((name) => (name.kind === "string" ? [name.text] : [])) ?? null;
  const isDefault = mode === "AUTO" && names === null;
  return { mode, allowed: names, source: isDefault ? "" : compactJson(config.object) };
}
