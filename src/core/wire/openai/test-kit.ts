// Models, messages and streams for the tests of both OpenAI protocols.
import type { Assembly } from "../../assembly/assemble.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { Block, Message } from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import type { EncodedRequest } from "../encoded-request.ts";
import type { ProviderFailure } from "../failure.ts";
import type { CallOptions, Protocol } from "../protocol.ts";
import type { Reply, StreamPart } from "../reply.ts";
import { assemblyOn, plainOptions, planOf, say, type Setting } from "../test-kit.ts";

export { plainOptions, planOf, say, toolUse } from "../test-kit.ts";

/** Takes markers for 30m and 12h; thinks; takes no temperature. */
export const sol: ModelFacts = resolveModel("gpt-6.1-sol").facts;
/** Takes no markers; keeps prefixes for 24h on request. */
export const older: ModelFacts = resolveModel("gpt-5.5").facts;
/** Does not think; takes a temperature. */
export const plain: ModelFacts = resolveModel("gpt-4.1").facts;

export function toolResult(toolUseId: string, ...content: readonly (string | Block)[]): Message {
  const { content: inner } = say("tool", ...content);
  return say("tool", { type: "tool_result", toolUseId, content: inner, isError: false });
}

export const readTool: ToolDefinition = {
  name: "Read",
  description: 'Reads a "file".',
  inputSchemaJson: '{"properties":{"path":{"type":"string"}},"type":"object"}',
};

export interface OpenaiSetting extends Setting {
  readonly protocol: Protocol;
  readonly model?: ModelFacts;
}

export function assemblyOf({ protocol, model = sol, ...setting }: OpenaiSetting): Assembly {
  return assemblyOn({ protocol, model }, setting);
}

export function encodeOf(
  setting: OpenaiSetting,
  plan: CachePlan = planOf(),
  options: Partial<CallOptions> = {},
): EncodedRequest {
  return setting.protocol.encode({
    assembly: assemblyOf(setting),
    plan,
    model: setting.model ?? sol,
    options: { ...plainOptions, ...options },
  });
}

export interface ReadStream {
  readonly reply: Reply | ProviderFailure;
  readonly parts: readonly StreamPart[];
}

/** Reads a stream of events given as their data. */
export function readStream({ stream }: Protocol, events: readonly string[]): ReadStream {
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
