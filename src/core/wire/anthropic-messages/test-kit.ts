// Models, blocks and bodies for the tests of this protocol.
import type { Assembly } from "../../assembly/assemble.ts";
import type { Thread } from "../../assembly/thread.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { Block } from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";
import {
  assemblyOn,
  plainOptions,
  planOf,
  threadOn,
  type Setting,
  type Wire,
} from "../test-kit.ts";
import { encodeRequest } from "./encode.ts";
import { toSpelling } from "./spelling.ts";

export { plainOptions, planOf, say, toolUse } from "../test-kit.ts";

/** Takes system messages among the messages; its thinking is bound to its prefix. */
export const sonnet: ModelFacts = resolveModel("claude-sonnet-5-5").facts;
/** Takes none; can be forced to call a tool, and takes a temperature. */
export const haiku: ModelFacts = resolveModel("claude-haiku-4-5").facts;

export function text(words: string): Block {
  return { type: "text", text: words };
}

export function toolResult(toolUseId: string, words: string): Block {
  return { type: "tool_result", toolUseId, content: [text(words)], isError: false };
}

export function tool(name: string): ToolDefinition {
  return { name, description: "Does it.", inputSchemaJson: '{"type":"object"}' };
}

export interface MessagesSetting extends Setting {
  readonly model?: ModelFacts;
}

export function threadOf(setting: MessagesSetting): Thread {
  return threadOn(wireOf(setting), setting);
}

export function assemblyOf(setting: MessagesSetting): Assembly {
  return assemblyOn(wireOf(setting), setting);
}

export function bodyOf(
  setting: MessagesSetting,
  plan: CachePlan = planOf(),
  options: CallOptions = plainOptions,
): string {
  const { model } = wireOf(setting);
  return bodyText(encodeRequest({ assembly: assemblyOf(setting), plan, model, options }).pieces);
}

function wireOf({ model = haiku }: MessagesSetting): Wire {
  return { protocol: { spelling: toSpelling }, model };
}
