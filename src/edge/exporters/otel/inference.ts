// One call to a model as OpenTelemetry describes it, and its attributes.
import type { Attributes } from "@opentelemetry/api";
import { anthropic, general, genAi, openInference, strata } from "./gen-ai-names.ts";

export interface Inference {
  readonly operation: "chat" | "generate_content";
  /** In OpenTelemetry's spelling. */
  readonly provider: string;
  readonly requestModel: string;
  readonly conversationId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly firstChunkMs: number | null;
  /** Null if the provider reported none. */
  readonly usage: BilledTokens | null;
  readonly finishReason: string | null;
  /** Null for a whole reply. */
  readonly errorType: string | null;
  readonly responseId: string | null;
  readonly server: ServerPlace | null;
  readonly costUsd: number | null;
  readonly savedUsd: number | null;
  /** Null if nothing was lost. */
  readonly miss: InferenceMiss | null;
  /** What only some calls have. */
  readonly more: Attributes;
}

export interface ServerPlace {
  readonly address: string;
  readonly port: number;
}

export interface BilledTokens {
  /** The whole prompt, with what was read from and written to a cache. */
  readonly input: number;
  /** With reasoning. */
  readonly output: number;
  /** Null if the provider said nothing about its cache. */
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** Null if it is not known. */
  readonly reasoning: number | null;
  /** Writes by lifetime; null if they are not known apart. */
  readonly write5m: number | null;
  readonly write1h: number | null;
}

export interface InferenceMiss {
  readonly cause: string;
  readonly block: string | null;
  readonly tokens: number;
  readonly lostUsd: number | null;
}

/** Further names under which some consumers look for the same numbers. */
export type Compatibility = (typeof compatibilities)[number];

export const compatibilities = ["openinference"] as const;

/** What a metric may have as a label: few values in all. */
export function toLabels(inference: Inference): Attributes {
  const { operation, provider, requestModel, errorType, server } = inference;
  return {
    [genAi.operation]: operation,
    [genAi.provider]: provider,
    [genAi.requestModel]: requestModel,
    ...(errorType === null ? {} : { [general.errorType]: errorType }),
    ...(server === null ? {} : toServer(server)),
  };
}

export function toAttributes(inference: Inference, compat: readonly Compatibility[]): Attributes {
  const { startMs, firstChunkMs, finishReason, responseId, costUsd, savedUsd } = inference;
  return {
    ...toLabels(inference),
    [genAi.conversation]: inference.conversationId,
    ...(finishReason === null ? {} : { [genAi.finishReasons]: [finishReason] }),
    ...(responseId === null ? {} : { [genAi.responseId]: responseId }),
    ...(firstChunkMs === null
      ? {}
      : { [genAi.timeToFirstChunk]: Math.max(0, firstChunkMs - startMs) / 1000 }),
    ...(inference.usage === null ? {} : toUsage(inference.usage)),
    ...(costUsd === null ? {} : { [strata.totalUsd]: costUsd }),
    ...(savedUsd === null ? {} : { [strata.savedUsd]: savedUsd }),
    ...(inference.miss === null ? {} : toMiss(inference.miss)),
    ...inference.more,
    ...(compat.includes("openinference") ? toOpenInference(inference) : {}),
  };
}

function toServer({ address, port }: ServerPlace): Attributes {
  return { [general.serverAddress]: address, [general.serverPort]: port };
}

/** What is not known is absent, not zero. */
function toUsage(usage: BilledTokens): Attributes {
  const { input, output, cacheRead, cacheWrite, reasoning, write5m, write1h } = usage;
  return {
    [genAi.inputTokens]: input,
    [genAi.outputTokens]: output,
    ...(cacheRead === null ? {} : { [genAi.cacheReadTokens]: cacheRead }),
    ...(cacheWrite === null
      ? {}
      : { [genAi.cacheWriteTokens]: cacheWrite, [genAi.cacheCreationTokens]: cacheWrite }),
    ...(reasoning === null ? {} : { [genAi.reasoningTokens]: reasoning }),
    ...(write5m === null ? {} : { [anthropic.write5mTokens]: write5m }),
    ...(write1h === null ? {} : { [anthropic.write1hTokens]: write1h }),
  };
}

function toMiss({ cause, block, tokens, lostUsd }: InferenceMiss): Attributes {
  return {
    [strata.missCause]: cause,
    [strata.missTokens]: tokens,
    ...(block === null ? {} : { [strata.missBlock]: block }),
    ...(lostUsd === null ? {} : { [strata.missUsd]: lostUsd }),
  };
}

function toOpenInference({ requestModel, usage }: Inference): Attributes {
  return {
    [openInference.kind]: "LLM",
    [openInference.model]: requestModel,
    ...(usage === null
      ? {}
      : { [openInference.prompt]: usage.input, [openInference.completion]: usage.output }),
    ...(usage === null || usage.cacheRead === null
      ? {}
      : { [openInference.cacheRead]: usage.cacheRead }),
    ...(usage === null || usage.cacheWrite === null
      ? {}
      : { [openInference.cacheWrite]: usage.cacheWrite }),
  };
}
