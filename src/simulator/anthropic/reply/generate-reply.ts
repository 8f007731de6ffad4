// Makes the reply to a prompt: the model's output within its limits, as blocks or as one summary.
import type { SurfaceContext } from "../../surface.ts";
import { cutReply, type CutReply, type ReplyLimits } from "./cut-reply.ts";
import { toPrompt } from "../prompt-view.ts";
import type { MessagesRequest } from "../request/read-request.ts";
import type { RenderedPrompt } from "../render/render-prompt.ts";
import { toReplyBlocks, type ReplyBlock } from "./reply-blocks.ts";
import { signSummary } from "../render/signature.ts";
import { isThinking } from "../request/validate-options.ts";
import { nothingGenerated } from "./usage.ts";
import type { Outcome } from "./write-message.ts";

/** A reply before it has an id and a bill. */
type Made = Pick<
  Outcome,
  "blocks" | "stopReason" | "stopSequence" | "outputTokens" | "thinkingTokens"
>;

export function generateReply(
  request: MessagesRequest,
  prompt: RenderedPrompt,
  context: SurfaceContext,
): Made {
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
function summarised(cut: CutReply, { state }: RenderedPrompt): Made {
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
