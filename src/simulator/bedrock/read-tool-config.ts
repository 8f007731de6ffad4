// Reads the tools of Converse, and which of them the model must use.
import { jsonText, type Json, type JsonObject } from "../json-source.ts";
import { createCollector, type Marked } from "./cache-points.ts";
import {
  constraint,
  fields,
  flag,
  insideOf,
  memberOf,
  objectOf,
  optionalText,
  type Member,
  type Place,
} from "./read-fields.ts";
import { invalid, notSimulated } from "./refusal.ts";

export interface ReadToolConfig extends Marked {
  readonly toolChoice: Json | undefined;
}

export function readToolConfig(config: Place): ReadToolConfig {
  const collector = createCollector("tools");
  const places = fields.placesAt(config, "tools");
  if (places.length === 0)
    throw constraint(
      "'[]'",
      `${config.path}.tools`,
      "Member must have length greater than or equal to 1",
    );
  for (const [index, place] of places.entries()) {
    const at = `toolConfig.tools.${index}`;
    const member = memberOf(place, at, "Tool", ["toolSpec", "systemTool", "cachePoint"]);
    if (member.kind === "cachePoint") collector.mark(member);
    else if (member.kind === "toolSpec") collector.add(readToolSpec(member), member.kind);
    else throw notSimulated(`${at}.systemTool`);
  }
  return { ...collector.result(), toolChoice: readToolChoice(config) };
}

function readToolSpec(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  const name = fields.textAt(inside, "name");
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw constraint(
      `'${name}'`,
      `${inside.path}.name`,
      "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    );
  const description = fields.findText(inside, "description");
  if (description === "")
    throw constraint(
      "''",
      `${inside.path}.description`,
      "Member must have length greater than or equal to 1",
    );
  const schema = fields.placeAt(fields.placeAt(inside, "inputSchema"), "json");
  const type = schema.object.fields.get("type");
  if (type?.kind !== "string" || type.text !== "object")
    throw invalid(`The value at ${at}.inputSchema.json.type must be one of the following: object.`);
  const strict = fields.findFlag(inside, "strict");
  return objectOf({
    name: jsonText(name),
    description: optionalText(description),
    input_schema: schema.object,
    strict: strict === null ? undefined : flag(strict),
  });
}

/** Converse knows no choice "none". */
function readToolChoice(config: Place): Json | undefined {
  const choice = fields.findPlace(config, "toolChoice");
  if (choice === null) return undefined;
  const member = memberOf(choice, "toolConfig.toolChoice", "ToolChoice", ["auto", "any", "tool"]);
  const { inside } = insideOf(member);
  return objectOf({
    type: jsonText(member.kind),
    name: member.kind === "tool" ? jsonText(fields.textAt(inside, "name")) : undefined,
  });
}
