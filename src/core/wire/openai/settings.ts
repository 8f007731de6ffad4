// Call options → members of either OpenAI protocol.
import type { JsonText } from "../../message/message.ts";
import type { EncodeNote } from "../encoded-request.ts";
import { ignored, setting, type Member } from "./body.ts";
import { isStrictSchema } from "./strict-schema.ts";
import type { CallToEncode } from "../protocol.ts";

/** Forms that differ between the two protocols. */
export interface SettingWords {
  readonly api: string;
  effort(json: JsonText): Member;
  /** From the members that name and give the schema. */
  outputFormat(schemaMembers: string): Member;
  /** A choice of one tool. */
  namedTool(json: JsonText): JsonText;
  readonly takesStopSequences: boolean;
}

export interface AskedSettings {
  readonly members: readonly Member[];
  readonly notes: readonly EncodeNote[];
}

export function askedSettings(call: CallToEncode, words: SettingWords): AskedSettings {
  const { model, options } = call;
  const { effort, outputSchemaJson, temperature, stopSequences = [], thinkingJson } = options;
  const members: Member[] = [];
  const notes: EncodeNote[] = [];
  const ignore = (detail: string): number => notes.push(ignored(detail));
  if (effort !== undefined) {
    if (model.capabilities.thinking) members.push(words.effort(JSON.stringify(effort)));
    else ignore(`effort: ${model.id} does not think`);
  }
  if (outputSchemaJson !== undefined) {
    const strict = isStrictSchema(outputSchemaJson) ? ',"strict":true' : "";
    members.push(words.outputFormat(`"name":"reply","schema":${outputSchemaJson}${strict}`));
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
