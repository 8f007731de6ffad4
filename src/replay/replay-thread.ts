// A growing thread of a recording: the same blocks for the planner and for billing, each made once.
import type { PromptBlock } from "../core/assembly/prompt-block.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { BillableBlock } from "../simulator/billing/billable-request.ts";
import { createGrowingPrompt, type GrowingPrompt } from "../simulator/billing/growing-prompt.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";

export interface ReplayThread {
  readonly prompt: GrowingPrompt;
  /** Blocks for the planner, parallel to the prompt. */
  readonly blocks: readonly PromptBlock[];
  /** Moves on to a request; returns how many blocks it shares with the previous one. */
  advance(request: RecordedRequest): number;
}

export interface ThreadFrame {
  readonly workspace: string;
  readonly model: ModelFacts;
  readonly settings: RecordedRequest["settings"];
}

export function createReplayThread(
  { workspace, model, settings }: ThreadFrame,
  recorded: readonly RecordedBlock[] = [],
): ReplayThread {
  const prompt = createGrowingPrompt({ workspace, model, settings });
  const blocks: PromptBlock[] = [];
  const own: RecordedBlock[] = [];
  const append = (more: readonly RecordedBlock[]): void => {
    own.push(...more);
    // Whether a block ends a group of results depends on the next block, so the last one is rebuilt.
    const from = Math.max(0, Math.min(prompt.blocks.length, own.length - more.length) - 1);
    prompt.cut(from);
    blocks.length = from;
    prompt.append(own.slice(from).map((block, index) => toBillable(block, own[from + index + 1])));
    for (let index = from; index < own.length; index += 1) {
      const block = own[index];
      if (block !== undefined) blocks.push(toPromptBlock(block, index, prompt));
    }
  };
  append(recorded);
  return {
    prompt,
    blocks,
    advance: ({ keep, append: more }) => {
      const shared = Math.min(keep, own.length);
      own.length = shared;
      prompt.cut(shared);
      blocks.length = Math.min(blocks.length, shared);
      append(more);
      return shared;
    },
  };
}

function toBillable(block: RecordedBlock, next: RecordedBlock | undefined): BillableBlock {
  const { hash, tokens, tier, kind, role, endsMessage } = block;
  const isResult = kind === "tool_result";
  const ends = role === "user" && endsMessage && !(isResult && next?.kind === "tool_result");
  const isInitial =
    role === "system" && tier !== "T3" && (next === undefined || next.tier === "T3");
  return {
    hash,
    tokens,
    tier: tier === "T0" ? "tools" : tier === "T3" ? "messages" : "system",
    run: kind === "tool_use" || isResult ? kind : null,
    boundary: ends ? "eligible message" : isInitial ? "initial group" : null,
  };
}

function toPromptBlock(
  { tokens, tier, kind, role, endsMessage, mayCarryMarker }: RecordedBlock,
  index: number,
  { keys, cumulative }: GrowingPrompt,
): PromptBlock {
  return {
    key: keys[index] ?? "",
    tokens,
    endTokens: cumulative[index] ?? 0,
    tier,
    kind,
    role,
    endsMessage,
    mayCarryMarker,
  };
}
