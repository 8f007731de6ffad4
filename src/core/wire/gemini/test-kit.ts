// Models, answers and streams for the tests of the Gemini protocol.
import type { Assembly } from "../../assembly/assemble.ts";
import type { Block, Message } from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText } from "../encoded-request.ts";
import type { ProviderFailure } from "../failure.ts";
import type { CallOptions, CallToEncode } from "../protocol.ts";
import type { Reply, StreamPart } from "../reply.ts";
import { assemblyOn, plainOptions, planOf, say, type Setting } from "../test-kit.ts";
import { gemini } from "./index.ts";

export { planOf, say, toolUse } from "../test-kit.ts";

/** Signs its tool calls; takes images in their results. */
export const flash: ModelFacts = resolveModel("gemini-3.8-flash").facts;
/** Signs nothing that must come back; takes a budget for thinking. */
export const older: ModelFacts = resolveModel("gemini-2.5-flash").facts;

export const readTool: ToolDefinition = {
  name: "Read",
  description: 'Reads a "file".',
  inputSchemaJson: '{"properties":{"path":{"type":"string"}},"type":"object"}',
};

export function toolResult(toolUseId: string, ...content: readonly (string | Block)[]): Message {
  const { content: inner } = say("tool", ...content);
  return say("tool", { type: "tool_result", toolUseId, content: inner, isError: false });
}

export interface GeminiSetting extends Setting {
  readonly model?: ModelFacts;
}

export function assemblyOf({ model = flash, ...setting }: GeminiSetting): Assembly {
  return assemblyOn({ protocol: gemini, model }, setting);
}

export function callOf(
  setting: GeminiSetting,
  options: Partial<CallOptions> = {},
  more: Partial<CallToEncode> = {},
): CallToEncode {
  return {
    assembly: assemblyOf(setting),
    plan: planOf(),
    model: setting.model ?? flash,
    options: { ...plainOptions, ...options },
    ...more,
  };
}

/** The text of a body. */
export function bodyOf(...of: Parameters<typeof callOf>): string {
  return bodyText(gemini.encode(callOf(...of)).pieces);
}

/** The text of the contents of a body, and what was left out on the way. */
export function contentsOf(setting: GeminiSetting): {
  readonly contents: string;
  readonly leftOut: readonly string[];
} {
  const request = gemini.encode(callOf({ current: [], ...setting }));
  const contents = /"contents":\[(.*)\],"generationConfig"/s.exec(bodyText(request.pieces))?.[1];
  return { contents: contents ?? "", leftOut: request.notes.map(({ detail }) => detail) };
}

/** An answer with these parts, each as JSON text. */
export function answerWith(parts: readonly string[], more: object = {}): string {
  const rest = JSON.stringify({ responseId: "r1", modelVersion: "gemini-3.8-flash", ...more });
  const content = `{"role":"model","parts":[${parts.join(",")}]}`;
  return `{"candidates":[{"content":${content},"finishReason":"STOP","index":0}],${rest.slice(1)}`;
}

/** An event of a stream: the same without an end. */
export function eventWith(parts: readonly string[], more: object = {}): string {
  return answerWith(parts, more).replace(',"finishReason":"STOP"', "");
}

export interface ReadStream {
  readonly reply: Reply | ProviderFailure;
  readonly parts: readonly StreamPart[];
}

export function readStream(events: readonly string[]): ReadStream {
  const { stream } = gemini;
  let state = stream.start;
  const parts: StreamPart[] = [];
  for (const data of events) {
    const [next, more] = stream.step(state, { event: undefined, data });
    state = next;
    parts.push(...more);
  }
  return { reply: stream.finish(state), parts };
}

export function asReply(answer: Reply | ProviderFailure): Reply {
  if (answer.kind !== "reply") throw new Error(`${answer.kind}: ${answer.detail}`);
  return answer;
}
