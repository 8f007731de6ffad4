// Assembly + plan → the body of a request in either OpenAI protocol.
import type { Lifetime } from "../../message/usage.ts";
import { checkOptions } from "../check-options.ts";
import { leftOutNote, type EncodedRequest, type EncodeNote } from "../encoded-request.ts";
import * as body from "./body.ts";
import { ignored, setting, type Member } from "./body.ts";
import { encodeCachePlan } from "./cache.ts";
import type { CallToEncode } from "../protocol.ts";
import type { JsonText } from "../../message/message.ts";
import * as fields from "../../message/fields.ts";

/** Names that differ between the two protocols. */
export interface BodyWords extends SettingWords {
  readonly path: string;
  /** The names of the members for the reply limit and the messages. */
  readonly outputTokensMax: string;
  readonly messages: string;
  /** The lifetimes to ask for; the first is the protocol's default. */
  readonly lifetimes: readonly [Lifetime, ...Lifetime[]];
  /** Whether the server takes `prompt_cache_key`. */
  readonly takesCacheKey: boolean;
  /** Asks for no reply: the prompt is only cached. */
  readonly isPrewarm?: boolean;
  /** The form of the reply, and other members that only this protocol has. */
  ownMembers(call: CallToEncode): readonly body.Member[];
}

export function encodeOpenai<Body>(call: CallToEncode, words: BodyWords): EncodedRequest<Body> {
  const { assembly, model, options } = call;
  checkOptions(options);
  const cache = encodeCachePlan(call, words);
  const asked = askedSettings(call, words);
  const members: readonly body.Member[] = [
    body.content("model", JSON.stringify(options.modelName ?? model.sentAs ?? model.id)),
    body.setting(words.outputTokensMax, String(options.outputTokensMax)),
    ...words.ownMembers(call),
    ...body.toolsMember(assembly),
    body.content(words.messages, ...body.writeMessages(assembly, cache.markers)),
    ...cache.members,
    ...asked.members,
  ];
  const notes = [
    ...cache.notes,
    ...asked.notes,
    ...body.leftOutNotes(assembly),
    ...assembly.leftOut.map(leftOutNote),
  ];
  return body.toBody({ path: words.path, members, extraJson: options.extraJson, notes });
}

/** Forms that differ between the two protocols. */
interface SettingWords {
  readonly api: string;
  /** Null if the server takes none. */
  effort(json: JsonText): Member | null;
  /** From the members that name and give the schema; null if the server takes none. */
  readonly outputFormat: ((schemaMembers: string) => Member) | null;
  readonly takesStrictSchemas: boolean;
  /** A choice of one tool. */
  namedTool(json: JsonText): JsonText;
  readonly takesStopSequences: boolean;
}

interface AskedSettings {
  readonly members: readonly Member[];
  readonly notes: readonly EncodeNote[];
}

function askedSettings(call: CallToEncode, words: SettingWords): AskedSettings {
  const { model, options } = call;
  const { effort, outputSchemaJson, temperature, stopSequences = [], thinkingJson } = options;
  const members: Member[] = [];
  const notes: EncodeNote[] = [];
  const ignore = (detail: string): number => notes.push(ignored(detail));
  if (effort !== undefined) {
    const member = words.effort(JSON.stringify(effort));
    if (!model.capabilities.thinking) ignore(`effort: ${model.id} does not think`);
    else if (member === null) ignore(`effort: servers of the route ${model.route} take none`);
    else members.push(member);
  }
  if (outputSchemaJson !== undefined) {
    const asStrict = words.takesStrictSchemas && isStrictSchema(outputSchemaJson);
    const schema = `"name":"reply","schema":${outputSchemaJson}${asStrict ? ',"strict":true' : ""}`;
    if (words.outputFormat !== null) members.push(words.outputFormat(schema));
    else ignore(`the reply's schema: servers of the route ${model.route} take none`);
  }
  if (temperature !== undefined) {
    if (model.capabilities.samplingControls) {
      members.push(setting("temperature", String(temperature)));
    } else ignore(`temperature: ${model.id} takes none`);
  }
  if (stopSequences.length > 0) {
    if (words.takesStopSequences) members.push(setting("stop", JSON.stringify(stopSequences)));
    else ignore(`stop sequences: ${words.api} takes none`);
  }
  if (thinkingJson !== undefined) {
    ignore(`thinking settings: ${words.api} has none; set an effort`);
  }
  const tools = toolSettings(call, words);
  return { members: [...members, ...tools.members], notes: [...notes, ...tools.notes] };
}

/** The provider refuses these without tools. */
function toolSettings({ assembly, options }: CallToEncode, words: SettingWords): AskedSettings {
  const { toolChoice, parallelToolUse } = options;
  const members: Member[] = [];
  if (toolChoice !== undefined) {
    const json =
      typeof toolChoice === "object"
        ? words.namedTool(JSON.stringify(toolChoice.name))
        : choiceWords[toolChoice];
    members.push(setting("tool_choice", json));
  }
  if (parallelToolUse !== undefined) {
    members.push(setting("parallel_tool_calls", String(parallelToolUse)));
  }
  if (assembly.thread.foundation.tools.length > 0) return { members, notes: [] };
  return { members: [], notes: members.map(({ name }) => ignored(`${name}: there are no tools`)) };
}

const choiceWords = { auto: '"auto"', none: '"none"', any: '"required"' } as const;

/** Every object names all its properties, requires each of them and allows no other. */
export function isStrictSchema(schemaJson: JsonText): boolean {
  const schema = fields.parseFields(schemaJson);
  return schema !== undefined && fields.textIn(schema, "type") === "object" && isStrict(schema, 0);
}

/** As documented for strict schemas. */
const depthMax = 10;
const keywords = new Set(
  "$defs $ref additionalProperties anyOf const description enum items properties required title type".split(
    " ",
  ),
);

function isStrict(schema: fields.Fields, depth: number): boolean {
  if (depth > depthMax || !Object.keys(schema).every((name) => keywords.has(name))) return false;
  const properties = fields.fieldsIn(schema, "properties");
  const inner = [
    ...Object.values(properties),
    ...Object.values(fields.fieldsIn(schema, "$defs")),
    ...fields.listIn(schema, "anyOf"),
    ...("items" in schema ? [schema["items"]] : []),
  ];
  return (
    isClosed(schema, properties) &&
    inner.every((each) => isStrict(fields.fieldsOf(each), depth + 1))
  );
}

function isClosed(schema: fields.Fields, properties: fields.Fields): boolean {
  if (fields.textIn(schema, "type") !== "object" && !("properties" in schema)) return true;
  const required = fields.listIn(schema, "required");
  return (
    schema["additionalProperties"] === false &&
    Object.keys(properties).every((name) => required.includes(name))
  );
}
