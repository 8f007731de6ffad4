// Shortens a tool result that is too large for the window to its beginning and end, before it is stored and
// sent. The full text is stored beside it.
import { countBytes } from "../../layers/cut-middle.ts";
import type { Block, Message, ToolResultBlock } from "../../message/message.ts";
import { cutOutput, type LeftOut } from "../../tools/cut-output.ts";
import type { RecallHint } from "./recall-hint.ts";

export interface ResultLimit {
  readonly tokensMax: number;
  readonly countMessage: (message: Message) => number;
  readonly recallHint: RecallHint;
}

/**
 * The limit for each result of one reply, so that all of them fit. Smaller ones stay complete; the largest
 * share the rest.
 */
export function shareTokens(
  tokens: readonly number[],
  { oneMax, allMax }: { readonly oneMax: number; readonly allMax: number },
): number {
  let left = allMax;
  const rising = tokens.map((each) => Math.min(each, oneMax)).toSorted((one, other) => one - other);
  for (const [at, each] of rising.entries()) {
    const share = Math.floor(left / (rising.length - at));
    if (each > share) return Math.min(oneMax, share);
    left -= each;
  }
  return oneMax;
}

export interface ResultCut {
  readonly message: Message;
  readonly tokens: number;
  readonly tokensBefore: number;
  readonly results: readonly CutText[];
}

/** What `history_read` returns instead of the shortened text. */
export interface CutText {
  readonly toolUseId: string;
  readonly wholeText: string;
  readonly bytesLeftOut: number;
}

/** Null if the message already fits. A shortened result fits, so it is never cut again. */
export function cutResult(message: Message, limit: ResultLimit): ResultCut | null {
  const tokensBefore = limit.countMessage(message);
  const results = message.content.filter((block) => block.type === "tool_result");
  if (tokensBefore <= limit.tokensMax || results.length === 0) return null;
  const { recallHint } = limit;
  let share = limit.tokensMax / tokensBefore;
  let cut = cutAll(message, share, recallHint);
  let tokens = limit.countMessage(cut.message);
  // The beginning may take more tokens per byte than the rest.
  for (let round = 0; tokens > limit.tokensMax && round < roundsMax; round += 1) {
    share *= Math.min(0.9, limit.tokensMax / tokens);
    cut = cutAll(message, share, recallHint);
    tokens = limit.countMessage(cut.message);
  }
  return cut.results.length === 0 || tokens >= tokensBefore
    ? null
    : { ...cut, tokens, tokensBefore };
}

const roundsMax = 12;

function cutAll(
  message: Message,
  share: number,
  recallHint: RecallHint,
): Pick<ResultCut, "message" | "results"> {
  const results: CutText[] = [];
  const content = message.content.map((block): Block => {
    if (block.type !== "tool_result") return block;
    const { cut, result } = cutOne(block, share, recallHint);
    if (result !== null) results.push(result);
    return cut;
  });
  return { message: { role: message.role, content }, results };
}

/** Cuts every text in proportion. Other blocks stay. */
function cutOne(
  block: ToolResultBlock,
  share: number,
  recallHint: RecallHint,
): { readonly cut: ToolResultBlock; readonly result: CutText | null } {
  const { type, toolUseId, isError } = block;
  let bytesLeftOut = 0;
  const content = block.content.map((part): Block => {
    if (part.type !== "text") return part;
    const cut = cutOutput(part.text, Math.floor(countBytes(part.text) * share), (left) =>
      describe(left, recallHint(toolUseId)),
    );
    bytesLeftOut += cut.bytesLeftOut;
    return cut.bytesLeftOut === 0 ? part : { type: "text", text: cut.text };
  });
  if (bytesLeftOut === 0) return { cut: block, result: null };
  const texts = block.content.map((part) => (part.type === "text" ? part.text : ""));
  const wholeText = texts.filter((text) => text !== "").join("\n");
  return {
    cut: { type, toolUseId, content, isError },
    result: { toolUseId, wholeText, bytesLeftOut },
  };
}

function describe(left: LeftOut, how: string): string {
  const { bytesLeftOut, bytesOfAll, fromLine, toLine } = left;
  const what = `${bytesLeftOut} of ${bytesOfAll} bytes are left out here, lines ${fromLine} to ${toLine}`;
  return `${what}: too much for the context; ${how}`;
}
