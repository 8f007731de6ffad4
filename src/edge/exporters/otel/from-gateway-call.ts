// A call that passed through the gateway, as OpenTelemetry describes it.
import {
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  trace,
  type Attributes,
  type Context,
  type SpanContext,
} from "@opentelemetry/api";
import type { CallWire, GatewayCall } from "../../../core/ledger/gateway-call.ts";
import { generatedTokens, promptTokens, writtenTokens } from "../../../core/message/usage.ts";
import { findProtocol } from "../../../core/wire/protocols.ts";
import { toAskedAttributes } from "./asked-attributes.ts";
import { genAi, strata, toProviderName } from "./gen-ai-names.ts";
import type { BilledTokens, Inference, InferenceMiss, ServerPlace } from "./inference.ts";

export function fromGatewayCall(call: GatewayCall): Inference {
  const { usage, costPicoUsd, plainCostPicoUsd, failure, status, wire } = call;
  return {
    operation: findProtocol(call.protocol)?.operation ?? "chat",
    provider: toProviderName(call.provider, call.upstream),
    requestModel: call.model,
    conversationId: call.conversation.id,
    startMs: call.startMs,
    endMs: call.endMs,
    firstChunkMs: call.firstByteMs,
    usage: usage === null ? null : toBilled(usage, call),
    finishReason: call.stopReason,
    errorType: status === "complete" ? null : (failure?.kind ?? status),
    responseId: call.replyId === "" ? null : call.replyId,
    server: toServer(wire?.origin ?? null),
    costUsd: toDollars(costPicoUsd),
    savedUsd:
      costPicoUsd === null || plainCostPicoUsd === null
        ? null
        : toDollars(plainCostPicoUsd - costPicoUsd),
    miss: toMiss(call),
    more: { ...toMore(call), ...(wire === undefined ? {} : toAskedAttributes(wire.asked)) },
  };
}

function toBilled(
  usage: NonNullable<GatewayCall["usage"]>,
  { reportsCache }: GatewayCall,
): BilledTokens {
  const { cacheWriteTokens: written } = usage;
  return {
    input: promptTokens(usage),
    output: generatedTokens(usage),
    cacheRead: reportsCache ? usage.cacheReadTokens : null,
    cacheWrite: reportsCache ? writtenTokens(usage) : null,
    reasoning: usage.reasoningTokens,
    write5m: written["5m"] ?? null,
    write1h: written["1h"] ?? null,
  };
}

function toMiss({ explanation }: GatewayCall): InferenceMiss | null {
  if (explanation === null || explanation.lostTokens === 0) return null;
  const { cause, block, lostTokens, lostPicoUsd } = explanation;
  if (cause === "no miss") return null;
  const lostUsd = toDollars(lostPicoUsd);
  return { cause, block: block?.section ?? null, tokens: lostTokens, lostUsd };
}

function toMore(call: GatewayCall): Attributes {
  const { conversation, explanation, policy = "client", gatewayKey, user, team } = call;
  return {
    [strata.mode]: modeOf(call),
    [strata.policy]: policy,
    [strata.markers]: call.markers.length,
    [strata.callId]: call.id,
    [strata.client]: conversation.client,
    [strata.kind]: conversation.kind,
    [strata.upstream]: call.upstream,
    [genAi.agent]: conversation.client,
    ...(explanation === null
      ? {}
      : { [strata.expectedReadTokens]: explanation.expectedReadTokens }),
    ...(call.servedBy === null ? {} : { [strata.servedBy]: call.servedBy }),
    ...(call.purpose === undefined ? {} : { [strata.purpose]: call.purpose }),
    ...(call.repairs === undefined ? {} : { [strata.repairs]: [...call.repairs] }),
    ...(gatewayKey == null ? {} : { [strata.key]: gatewayKey }),
    ...(user == null ? {} : { [strata.user]: user }),
    ...(team == null ? {} : { [strata.team]: team }),
  };
}

function modeOf({ arm = "client", policy = "client", repairs = [] }: GatewayCall): string {
  if (arm === "holdout") return "holdout";
  return policy === "client" && repairs.length === 0 ? "observe" : "optimize";
}

function toServer(origin: string | null): ServerPlace | null {
  const url = origin === null ? null : URL.parse(origin);
  if (url === null) return null;
  const usual = url.protocol === "https:" ? 443 : 80;
  return { address: url.hostname, port: url.port === "" ? usual : Number(url.port) };
}

/** Good enough for graphs; the ledger has the exact amount. */
function toDollars(picoUsd: bigint | null): number | null {
  return picoUsd === null ? null : Number(picoUsd) / 1e12;
}

/** The client's trace, by the headers of W3C Trace Context; the root if they name none, or in a way that cannot be read. */
export function contextOf(given: CallWire["trace"] | undefined): Context {
  const parent = given == null ? null : readParent(given.parent);
  if (given == null || parent === null) return ROOT_CONTEXT;
  const state = given.state === null ? {} : { traceState: createTraceState(given.state) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, ...state, isRemote: true });
}

function readParent(header: string): SpanContext | null {
  const [, version, traceId = "", spanId = "", flags = "0", rest = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header.trim()) ?? [];
  // Later versions may say more; ours says exactly this.
  if (version === undefined || version === "ff" || (version === "00" && rest !== "")) return null;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
  return isSpanContextValid(parent) ? parent : null;
}
