// The response as JSON text: whole, or as the pieces of a stream. Arguments of calls keep their spelling.
import type { Bill } from "../../billing/bill.ts";
import type { Modality, Rendering } from "../render/render.ts";
import type { Produced } from "./produce.ts";
import { toPieces, type WirePart } from "./wire-parts.ts";

export interface GeneratedReply {
  readonly responseId: string;
  readonly modelVersion: string;
  readonly bill: Bill;
  readonly rendering: Rendering;
  readonly produced: Produced;
  readonly parts: readonly WirePart[];
}

export function toWhole(reply: GeneratedReply): string {
  const { parts, produced } = reply;
  const { outputTokens, thinkingTokens } = produced;
  const counts = { candidates: outputTokens - thinkingTokens, thoughts: thinkingTokens };
  return responseText(reply, parts, produced.finishReason, counts);
}

/** A response per piece, each with the usage so far; the last one says how it ended. */
export function* toChunks(reply: GeneratedReply): Iterable<string> {
  const { produced } = reply;
  const pieces = toPieces(reply.parts);
  const whole = {
    candidates: produced.outputTokens - produced.thinkingTokens,
    thoughts: produced.thinkingTokens,
  };
  let candidates = 0;
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    if (piece.kind !== "thought") candidates += piece.tokens;
    const counts = isLast ? whole : { ...whole, candidates };
    yield responseText(reply, [piece], isLast ? produced.finishReason : null, counts);
  }
  if (pieces.length === 0) yield responseText(reply, [], produced.finishReason, whole);
}

interface Counts {
  readonly candidates: number;
  readonly thoughts: number;
}

function responseText(
  reply: GeneratedReply,
  parts: readonly WirePart[],
  finishReason: Produced["finishReason"] | null,
  counts: Counts,
): string {
  const list = parts.length === 0 ? "" : `"parts":[${parts.map(partText).join(",")}],`;
  const finish = finishReason === null ? "" : `,"finishReason":${JSON.stringify(finishReason)}`;
  const rest = JSON.stringify({
    usageMetadata: toUsage(reply, counts),
    modelVersion: reply.modelVersion,
    responseId: reply.responseId,
  });
  return `{"candidates":[{"content":{${list}"role":"model"}${finish},"index":0}],${rest.slice(1)}`;
}

function partText({ kind, text, call, signature }: WirePart): string {
  const signed = signature === null ? "" : `,"thoughtSignature":${JSON.stringify(signature)}`;
  if (call !== null) {
    const id = call.id === null ? "" : `,"id":${JSON.stringify(call.id)}`;
    const name = JSON.stringify(call.name);
    return `{"functionCall":{"name":${name},"args":${call.argsJson}${id}}${signed}}`;
  }
  const thought = kind === "thought" ? ',"thought":true' : "";
  return `{"text":${JSON.stringify(text)}${thought}${signed}}`;
}

/** Counts of 0 are left out, as Google's writer does it. Thoughts are not part of the candidates. */
function toUsage({ bill, rendering }: GeneratedReply, { candidates, thoughts }: Counts): object {
  const { totalTokens, readTokens } = bill;
  return {
    promptTokenCount: totalTokens,
    ...(candidates > 0 ? { candidatesTokenCount: candidates } : {}),
    totalTokenCount: totalTokens + candidates + thoughts,
    ...(readTokens > 0 ? { cachedContentTokenCount: readTokens } : {}),
    promptTokensDetails: rendering.modalities,
    ...(readTokens > 0 ? { cacheTokensDetails: cachedDetails(readTokens, rendering) } : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  };
}

/** What was read by medium: text first, because the simulator does not say where in the prompt an image stands. */
function cachedDetails(readTokens: number, { modalities }: Rendering): readonly Modality[] {
  let left = readTokens;
  return modalities.flatMap(({ modality, tokenCount }) => {
    const taken = Math.min(left, tokenCount);
    left -= taken;
    return taken === 0 ? [] : [{ modality, tokenCount: taken }];
  });
}
