// The AI SDK's result → our reply. Reads the provider's own usage, which has more detail than the SDK's sums.
import type { Block } from "../../core/message/message.ts";
import { noUsage } from "../../core/message/usage.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply, ReplyStop, ReportedUsage } from "../../core/wire/reply.ts";
import type { NamedSdkModel } from "./reach-model.ts";
import { toBlock } from "./read-part.ts";
import type { SdkResult, SdkStreamPart } from "./sdk-call.ts";

type SdkReply = Pick<SdkResult, "content"> & Partial<Pick<SdkResult, "finishReason" | "usage">>;

export function toReply(
  { content, finishReason, usage }: SdkReply,
  { protocol, words, facts }: NamedSdkModel,
  failure: ProviderFailure | null = null,
): Reply {
  const raw = usage?.raw;
  const decoded = raw === undefined ? null : protocol.decode(JSON.stringify(words.toBody(raw)));
  const message = { role: "assistant" as const, content: content.flatMap(toBlocks) };
  return {
    kind: "reply",
    id: "",
    model: facts.id,
    message,
    stopReason: toStop(finishReason?.unified, message.content),
    usage: decoded?.kind === "reply" ? decoded.usage : summedUsage(usage),
    status: finishReason === undefined || failure !== null ? "partial" : "complete",
    ...(failure === null ? {} : { failure }),
    transformations: [],
  };
}

function toBlocks(part: SdkResult["content"][number]): readonly Block[] {
  const block = toBlock(part);
  return block === null ? [] : [block];
}

/** Without the provider's own usage, the lifetime of cache writes is unknown: they count as the shortest. */
function summedUsage(usage: SdkResult["usage"] | undefined): ReportedUsage {
  const total = usage?.inputTokens.total;
  if (usage === undefined || total === undefined) {
    return {
      usage: noUsage,
      isReported: false,
      reportsCache: false,
      warnings: ["no usage was reported"],
    };
  }
  const { cacheRead, cacheWrite = 0 } = usage.inputTokens;
  const { total: made = 0, reasoning = 0 } = usage.outputTokens;
  return {
    usage: {
      uncachedTokens: Math.max(0, total - (cacheRead ?? 0) - cacheWrite),
      cacheReadTokens: cacheRead ?? 0,
      cacheWriteTokens: cacheWrite === 0 ? {} : { "5m": cacheWrite },
      outputTokens: Math.max(0, made - reasoning),
      reasoningTokens: reasoning,
    },
    isReported: true,
    reportsCache: cacheRead !== undefined,
    warnings: ["usage as the AI SDK sums it up"],
  };
}

function toStop(
  unified: SdkResult["finishReason"]["unified"] | undefined,
  content: readonly Block[],
): ReplyStop {
  switch (unified) {
    case "stop":
      return content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
    case "tool-calls":
      return "tool_use";
    case "length":
      return "max_tokens";
    case "content-filter":
      return "refusal";
    case "error":
    case "interrupted":
    case "other":
    case undefined:
      return "unknown";
  }
}

export interface StreamReading {
  take(part: SdkStreamPart): void;
  soFar(): SdkReply;
  /** The error that a part of the stream reported. */
  readonly error: unknown;
}

type TextKind = "text" | "reasoning";

export function createStreamReading(): StreamReading {
  const content: SdkResult["content"] = [];
  const open = new Map<string, { type: TextKind; text: string; providerMetadata?: SdkMetadata }>();
  let end: Partial<Pick<SdkResult, "finishReason" | "usage">> = {};
  let error: unknown = undefined;
  const grow = (type: TextKind, id: string, more: string, metadata?: SdkMetadata): void => {
    const key = `${type} ${id}`;
    const part = open.get(key) ?? { type, text: "" };
    if (!open.has(key)) content.push(part);
    open.set(key, part);
    part.text += more;
    if (metadata !== undefined) part.providerMetadata = { ...part.providerMetadata, ...metadata };
  };
  return {
    get error() {
      return error;
    },
    soFar: () => ({ content, ...end }),
    take: (part) => {
      if (part.type === "text-delta") grow("text", part.id, part.delta);
      else if (part.type === "reasoning-start" || part.type === "reasoning-end") {
        grow("reasoning", part.id, "", part.providerMetadata);
      } else if (part.type === "reasoning-delta") {
        grow("reasoning", part.id, part.delta, part.providerMetadata);
      } else if (part.type === "tool-call" || part.type === "tool-result" || part.type === "file") {
        content.push(part);
      } else if (part.type === "finish") {
        const { finishReason, usage } = part;
        end = { finishReason, usage };
      } else if (part.type === "error") ({ error } = part);
    },
  };
}

type SdkMetadata = NonNullable<SdkResult["providerMetadata"]>;
