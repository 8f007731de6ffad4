// Makes the reply to a prompt: the model's output, cut at a stop sequence or a limit, as blocks or as one summary.
import type { SurfaceContext } from "../../surface.ts";
import { toPrompt } from "../prompt-view.ts";
import type { MessagesRequest } from "../request/read-request.ts";
import type { RenderedPrompt } from "../render/render-prompt.ts";
import { toReplyBlocks, type ReplyBlock } from "./reply-blocks.ts";
import { signSummary } from "../render/signature.ts";
import { isThinking } from "../request/validate-options.ts";
import { nothingGenerated } from "./usage.ts";
import type { Reply, ReplyPart } from "../../prompt.ts";
import type { Generated } from "../../record-call.ts";
import { longestFit } from "../../reply-text.ts";
import { toolUseTokens, type TokenScale } from "../render/block-tokens.ts";

/** A reply before it has an id and a bill. */
export interface MadeReply extends Generated {
  readonly blocks: readonly ReplyBlock[];
  readonly stopReason: StopReason;
  readonly stopSequence: string | null;
}

export function generateReply(
  request: MessagesRequest,
  prompt: RenderedPrompt,
  context: SurfaceContext,
): MadeReply {
  const limits = limitsOf(request, prompt);
  if (request.options.maxTokens === 0)
    return { blocks: [], stopReason: "max_tokens", stopSequence: null, ...nothingGenerated };
  const reply = context.answer(toPrompt(request, limits.tokensMax));
  const { facts, options } = request;
  const scale = { counter: context.counter, tokenizer: facts.tokenizer };
  const cut = cutReply(reply, limits, scale);
  if (options.compaction !== null) return summarised(cut, prompt);
  const blocks = toReplyBlocks(cut.parts, prompt.state, {
    model: facts.id,
    display: options.thinking?.display ?? null,
    newId: context.newId,
  });
  return { ...cut, blocks };
}

/** A summary is one block. If the model did not finish it, the reply is empty. */
function summarised(cut: CutReply, { state }: RenderedPrompt): MadeReply {
  const content = cut.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  if (cut.stopReason !== "end_turn" || content === "") return { ...cut, blocks: [] };
  const signature = signSummary(content, state.messages);
  const blocks: ReplyBlock[] = [{ type: "compaction", content, signature }];
  return { ...cut, blocks, stopReason: "compaction" };
}

function limitsOf(request: MessagesRequest, { totalTokens }: RenderedPrompt): ReplyLimits {
  const { facts, options } = request;
  const asked = options.maxTokens ?? 0;
  const left = Math.max(0, facts.windowTokens - totalTokens);
  return {
    tokensMax: Math.min(asked, left),
    atLimit: left < asked ? "model_context_window_exceeded" : "max_tokens",
    stopSequences: options.stopSequences,
    thinks: isThinking(request),
  };
}

type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "model_context_window_exceeded"
  | "compaction";

interface CutReply extends Omit<MadeReply, "blocks"> {
  readonly parts: readonly ReplyPart[];
}

interface ReplyLimits {
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
function cutReply(reply: Reply, limits: ReplyLimits, scale: TokenScale): CutReply {
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
