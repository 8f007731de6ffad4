// A canonical request → a call of its provider: laid out, planned and encoded, with all that the request says.
import type { Assembly } from "../assembly/assemble.ts";
import { assembleRequest } from "../assembly/canonical.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import { planCache } from "../cache/plan-cache.ts";
import type { CanonicalRequest } from "../message/canonical-request.ts";
import type { Block, Message } from "../message/message.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { StrataError } from "../strata-error.ts";
import { createTokenCounter } from "../tokens/token-counter.ts";
import type { EncodedRequest } from "./encoded-request.ts";
import { withUsual, type PlanSetting } from "./plan-setting.ts";
import type { CallOptions } from "./protocol.ts";
import { usualProtocol } from "./protocols.ts";
import type { Reply } from "./reply.ts";

export interface CanonicalSetting extends PlanSetting {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** `Provider.send` takes it as it is, and `Provider.cancel` its `requestId`. */
export interface CanonicalCall {
  readonly requestId: string;
  readonly request: EncodedRequest;
  readonly stream: boolean;
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  /** A reply to the call, with our ids of tool uses in place of the provider's. */
  readonly toOurIds: (reply: Reply) => Reply;
}

/** Encodes a canonical request for its provider: limits, temperature, stop words, schema, tool ids and all. */
export function encodeCanonicalRequest(
  request: CanonicalRequest,
  setting: CanonicalSetting,
): CanonicalCall {
  const { policy, counter: textCounter, state, pace } = withUsual(setting);
  const model = setting.model ?? resolveModel(request.model).facts;
  const protocol = setting.protocol ?? usualProtocol(model.provider);
  const theirIds = new Map(Object.entries(request.toolIdMap ?? {}));
  const ourIds = new Map([...theirIds].map(([ours, theirs]) => [theirs, ours]));
  checkRequest(request, ourIds);
  const messages = request.messages.map((message) => withIds(message, theirIds));
  const { layout } = policy;
  const counter = createTokenCounter(textCounter, model.tokenizer);
  const spelling = protocol.spelling(model);
  const assembly = assembleRequest({ ...request, messages }, { layout, spelling, counter, model });
  const { markers } = policy;
  const { blocks } = assembly;
  const plan = planCache({ blocks, rules: model, markers, state, pace, now: setting.nowMs });
  const options = optionsOf(request);
  return {
    requestId: request.requestId,
    request: protocol.encode({ assembly, plan, model, options }),
    stream: request.stream,
    assembly,
    plan,
    toOurIds: (reply) => ({ ...reply, message: withIds(reply.message, ourIds) }),
  };
}

function optionsOf(request: CanonicalRequest): CallOptions {
  const { maxOutputTokens, stream, temperature, stopSequences, outputSchemaJson } = request;
  return {
    outputTokensMax: maxOutputTokens,
    stream,
    ...(temperature === null ? {} : { temperature }),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
    ...(outputSchemaJson === null ? {} : { outputSchemaJson }),
  };
}

function checkRequest(
  { requestId, toolIdMap }: CanonicalRequest,
  ourIds: ReadonlyMap<string, string>,
): void {
  if (requestId.trim() === "") {
    const hint = "give each request an id of its own: cancelling names the call by it";
    throw new StrataError("input-invalid", "the request has no id", hint);
  }
  if (ourIds.size === Object.keys(toolIdMap ?? {}).length) return;
  const hint = "give every tool use an id of its own";
  throw new StrataError("input-invalid", "toolIdMap gives two tool uses the same id", hint);
}

/** Ids that the map does not have stay. The text of a changed block or message would be the old one. */
function withIds(message: Message, ids: ReadonlyMap<string, string>): Message {
  const content = message.content.map((block) => withId(block, ids));
  if (content.every((block, index) => block === message.content[index])) return message;
  return { role: message.role, content };
}

function withId(block: Block, ids: ReadonlyMap<string, string>): Block {
  if (block.type === "tool_use") {
    const id = ids.get(block.id);
    const { type, name, inputJson } = block;
    return id === undefined ? block : { type, id, name, inputJson };
  }
  if (block.type === "tool_result") {
    const toolUseId = ids.get(block.toolUseId);
    const { type, content, isError } = block;
    return toolUseId === undefined ? block : { type, toolUseId, content, isError };
  }
  return block;
}
