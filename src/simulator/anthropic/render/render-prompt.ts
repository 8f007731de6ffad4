// Checks, renders, counts and marks a request. Counting and billing both start here.
import type { BillableBlock, BillableMarker } from "../../billing/billable-request.ts";
import type { PromptCounter } from "../../count-tokens.ts";
import { lineOf, versionOf } from "../model-version.ts";
import type { MessagesRequest } from "../request/read-request.ts";
import { invalid, promptTooLong, type Refusal, invented } from "../refusal.ts";
import { renderUnits, type PromptUnit } from "./render-units.ts";
import { bindThinking, type Bound } from "./thinking-binding.ts";
import { validateMessages } from "../request/validate-messages.ts";
import { validateCompactionRequest, validateOptions } from "../request/validate-options.ts";
import { textOr } from "../request/read-fields.ts";
import type { ReadBlock, ReadMark } from "../request/read-blocks.ts";
import { compactionBeta } from "../request/read-options.ts";
import { isContentOf, readSummarySignature } from "./signature.ts";

export interface RenderedPrompt extends Bound {
  /** One per unit, plus the opening of the reply at the end. */
  readonly blocks: readonly BillableBlock[];
  readonly markers: readonly BillableMarker[];
  readonly totalTokens: number;
}

export function renderPrompt(request: MessagesRequest, counter: PromptCounter): RenderedPrompt {
  validateOptions(request);
  validateMessages(request);
  validateCompaction(request);
  validateMarks(request);
  const bound = bindThinking(renderUnits(request, counter), request);
  const markers = placeMarkers(bound.units, request);
  const blocks = [...toBlocks(bound.units, request, counter), opening(request, counter)];
  const totalTokens = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  return { ...bound, blocks, markers, totalTokens };
}

/**
 * Adds the tokens around the blocks: the tool prompt before the first tool, the addition for a forced choice before
 * the first message (where it keeps tools and system cached), and the frame of each turn.
 */
function toBlocks(
  units: readonly PromptUnit[],
  { facts, options }: MessagesRequest,
  counter: PromptCounter,
): readonly BillableBlock[] {
  const { toolPromptTokens, tokenizer } = facts;
  const isForced = options.toolChoice === "any" || typeof options.toolChoice === "object";
  const forced =
    isForced && toolPromptTokens !== null ? toolPromptTokens.forced - toolPromptTokens.auto : 0;
  const hasTools = units.some(({ origin }) => origin === "tools");
  const frame = counter.constant("message", tokenizer);
  let speaker: PromptUnit["role"] | null = null;
  return units.map((unit, index) => {
    const isMessage = unit.origin === "messages";
    const isFirstMessage = isMessage && units[index - 1]?.origin !== "messages";
    // A unit that is not rendered neither opens nor ends a turn.
    const isNewTurn = isMessage && unit.tokens > 0 && unit.role !== speaker;
    if (isNewTurn) speaker = unit.role;
    const around =
      (index === 0 && hasTools ? (toolPromptTokens?.auto ?? 0) : 0) +
      (isFirstMessage && hasTools ? forced : 0) +
      (isNewTurn ? frame : 0);
    return {
      hash: unit.hash,
      tokens: unit.tokens + around,
      tier: unit.tier,
      run: unit.type === "tool_use" || unit.type === "tool_result" ? unit.type : null,
      boundary: null,
    };
  });
}

/** The tokens after the client's last block. No marker covers them, so even a fully marked prompt pays for them. */
function opening({ facts }: MessagesRequest, counter: PromptCounter): BillableBlock {
  const tokens = counter.constant("reply", facts.tokenizer);
  return { hash: "reply", tokens, tier: "messages", run: null, boundary: null };
}

/** Prompts of any length can be counted, but only those that fit can be answered. */
export function validateLength(
  { totalTokens: tokens }: RenderedPrompt,
  { facts, options }: MessagesRequest,
): void {
  if (tokens > facts.inputTokensMax) throw promptTooLong(tokens, facts.inputTokensMax);
  const { windowTokens } = facts;
  const maxTokens = options.maxTokens ?? 0;
  if (
    versionOf(facts.id) < 405 &&
    lineOf(facts.id) !== "mythos" &&
    tokens + maxTokens > windowTokens
  )
    throw invalid(
      `input length and \`max_tokens\` exceed context limit: ${tokens} + ${maxTokens} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`,
    );
}

/** Checks blocks sent back and, if a summary is requested, that there is something to summarise. */
function validateCompaction(request: MessagesRequest): void {
  const { messages, betas, options } = request;
  const blocks = messages.flatMap((message) => message.blocks);
  const summaries = blocks.filter(({ type }) => type === "compaction");
  for (const summary of summaries) {
    if (!betas.has(compactionBeta))
      throw invalid(`${summary.path}: compaction block requires anthropic-beta: ${compactionBeta}`);
    if (summary !== messages[0]?.blocks[0])
      throw refusal(
        `${summary.path}: a compaction block must be the first block of the first message`,
        "compaction_block_misplaced",
      );
    validateSummary(summary);
  }
  if (options.compaction === null) return;
  validateCompactionRequest(request);
  if (blocks.length === summaries.length)
    throw refusal("compaction: there is nothing to summarize", "compaction_nothing_to_summarize");
}

function validateSummary({ path, json }: ReadBlock): void {
  const origin = readSummarySignature(textOr(json, "signature", ""));
  if (origin === null)
    throw refusal(
      `${path}: Invalid \`signature\` in \`compaction\` block`,
      "compaction_signature_invalid",
    );
  if (!isContentOf(textOr(json, "content", ""), origin))
    throw refusal(
      `${path}: the content of the \`compaction\` block does not match its \`signature\``,
      "compaction_content_mismatch",
    );
}

function refusal(message: string, errorCode: string): Refusal {
  return invalid(message, { error_code: errorCode });
}

/** Refuses too many explicit markers, and 1h after 5m in the provider's order. */
function validateMarks({ tools, system, messages, facts }: MessagesRequest): void {
  const marks = [
    ...tools.flatMap(({ mark }) => (mark === null ? [] : [mark])),
    ...system.flatMap((block) => block.marks),
    ...messages.flatMap(({ blocks }) => blocks.flatMap((block) => block.marks)),
  ];
  const marksMax = facts.cache.markers?.markersMax ?? 4;
  if (marks.length > marksMax)
    throw invalid(
      `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marks.length}.`,
    );
  const firstShort = marks.findIndex(({ ttl }) => ttl === "5m");
  const late =
    firstShort === -1 ? undefined : marks.slice(firstShort).find(({ ttl }) => ttl === "1h");
  if (late !== undefined) throw outOfOrder(late);
}

function placeMarkers(
  units: readonly PromptUnit[],
  request: MessagesRequest,
): readonly BillableMarker[] {
  const explicit = units.flatMap(({ marks }, block): BillableMarker[] => {
    if (marks.length === 0) return [];
    // Several markers inside one block end at the same place; the longest lifetime wins.
    const lifetime = marks.some(({ ttl }) => ttl === "1h") ? "1h" : "5m";
    return [{ block, lifetime, origin: "explicit" }];
  });
  const { automatic } = request;
  if (automatic === null) return explicit;
  return [...explicit, ...automaticMarker(units, automatic, request)].toSorted(
    (left, right) => left.block - right.block,
  );
}

/** On the last block that can carry a marker; none without such a block. */
function automaticMarker(
  units: readonly PromptUnit[],
  automatic: ReadMark,
  { facts }: MessagesRequest,
): readonly BillableMarker[] {
  const block = units.findLastIndex(({ mayBeMarked }) => mayBeMarked);
  const there = units[block];
  if (there === undefined) return [];
  const own = there.marks.at(-1);
  if (own !== undefined && own.ttl === automatic.ttl) return [];
  if (own !== undefined)
    throw invented(
      `cache_control: ttl='${automatic.ttl}' conflicts with the ttl='${own.ttl}' cache_control on the last block`,
    );
  const marks = units.flatMap((unit) => unit.marks);
  const marksMax = facts.cache.markers?.markersMax ?? 4;
  if (marks.length >= marksMax)
    throw invented(
      `cache_control: automatic caching needs one of the ${marksMax} cache_control slots, and all are taken`,
    );
  if (automatic.ttl === "1h" && marks.some(({ ttl }) => ttl === "5m")) throw outOfOrder(automatic);
  return [{ block, lifetime: automatic.ttl, origin: "automatic" }];
}

function outOfOrder({ path }: ReadMark): Error {
  return invalid(
    `${path}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
  );
}
