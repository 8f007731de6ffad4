// Cuts a reply at a stop sequence, at the client's limit, or at the end of the window.
import type { Reply, ReplyPart } from "../../prompt.ts";
import type { Generated } from "../../record-call.ts";
import { longestFit } from "../../reply-text.ts";
import { toolUseTokens, type TokenScale } from "../render/block-tokens.ts";

export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "model_context_window_exceeded"
  | "compaction";

export interface CutReply extends Generated {
  readonly parts: readonly ReplyPart[];
  readonly stopReason: StopReason;
  readonly stopSequence: string | null;
}

export interface ReplyLimits {
  readonly tokensMax: number;
  readonly atLimit: "max_tokens" | "model_context_window_exceeded";
  readonly stopSequences: readonly string[];
  readonly thinks: boolean;
}

const stops: Readonly<Record<Reply["stop"], StopReason>> = {
  end: "end_turn",
  "tool use": "tool_use",
  "output limit": "max_tokens",
};

/** Cuts text and thinking; leaves out a tool use that does not fit. */
export function cutReply(reply: Reply, limits: ReplyLimits, scale: TokenScale): CutReply {
  const parts: ReplyPart[] = [];
  let outputTokens = 0;
  let thinkingTokens = 0;
  const finished = (stopReason: StopReason, stopSequence: string | null = null): CutReply => ({
    parts,
    stopReason,
    stopSequence,
    outputTokens,
    thinkingTokens,
  });
  for (const whole of reply.parts) {
    if (whole.kind === "thinking" && !limits.thinks) continue;
    const { part, sequence } = upToSequence(whole, limits.stopSequences);
    const room = limits.tokensMax - outputTokens;
    const fits = partTokens(part, scale) <= room;
    const kept = fits ? part : cutPart(part, room, scale);
    if (kept !== null && !isEmpty(kept)) {
      const tokens = partTokens(kept, scale);
      parts.push(kept);
      outputTokens += tokens;
      if (kept.kind === "thinking") thinkingTokens += tokens;
    }
    if (!fits) return finished(limits.atLimit);
    if (sequence !== null) return finished("stop_sequence", sequence);
  }
  return finished(stops[reply.stop]);
}

function partTokens(part: ReplyPart, scale: TokenScale): number {
  return part.kind === "tool use"
    ? toolUseTokens(part.name, part.inputJson, scale)
    : scale.counter.text(part.text, scale.tokenizer);
}

function isEmpty(part: ReplyPart): boolean {
  return part.kind !== "tool use" && part.text.trim() === "";
}

function upToSequence(
  part: ReplyPart,
  sequences: readonly string[],
): { readonly part: ReplyPart; readonly sequence: string | null } {
  if (part.kind !== "text") return { part, sequence: null };
  const found = sequences
    .filter((sequence) => sequence !== "" && part.text.includes(sequence))
    .toSorted((left, right) => part.text.indexOf(left) - part.text.indexOf(right))[0];
  if (found === undefined) return { part, sequence: null };
  return { part: { ...part, text: part.text.slice(0, part.text.indexOf(found)) }, sequence: found };
}

function cutPart(part: ReplyPart, room: number, scale: TokenScale): ReplyPart | null {
  if (part.kind === "tool use") return null;
  const { counter, tokenizer } = scale;
  const fits = (text: string): boolean => counter.text(text, tokenizer) <= room;
  return { ...part, text: longestFit(part.text, fits) };
}
