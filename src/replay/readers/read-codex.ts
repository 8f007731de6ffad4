// Reads Codex rollouts: the items of a conversation in order, with a token count after each reply.
import type { Usage } from "../../core/message/usage.ts";
import {
  countIn,
  fieldsIn,
  fieldsOf,
  isObject,
  listIn,
  textIn,
  type Fields,
} from "../../core/message/fields.ts";
import type { Recorded } from "../recording.ts";
import { draftHidden, sizeReasoning, type BlockDraft } from "./block-draft.ts";
import { openSession, timeMsOf, type LineReader, type Source } from "./line-reader.ts";
import {
  draftInstructions,
  draftItem,
  isOutputItem,
  isSystemItem,
  responsesForm,
} from "./forms/responses-form.ts";
import { createThreadHistory, type ThreadHistory } from "./thread-history.ts";

const lineTypes = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

export function isCodex(line: Fields): boolean {
  return lineTypes.some((type) => type === line["type"]) && isObject(line["payload"]);
}

/** A reply being read. Its request is complete; its items go into the next request. */
interface OpenReply {
  readonly keep: number;
  readonly sent: readonly BlockDraft[];
  readonly startMs: number | null;
  endMs: number | null;
  /** Whether an item of the client followed, so the model's next item starts another reply. */
  isAnswered: boolean;
}

interface RolloutState {
  readonly source: Source;
  readonly history: ThreadHistory;
  sessionId: string | null;
  session: string | null;
  head: readonly BlockDraft[];
  /** The text of the head, or null. */
  instructions: string | null;
  /** How many blocks of the last request the next one keeps, and the blocks after them. */
  keep: number;
  tail: BlockDraft[];
  reply: OpenReply | null;
  model: string | null;
  effort: string | null;
  lastMs: number | null;
  /** Notes about limits repeat the last total; only a new total belongs to a reply. */
  totalTokens: number | null;
}

export function createCodexReader(source: Source): LineReader {
  const state: RolloutState = {
    source,
    history: createThreadHistory(),
    sessionId: null,
    session: null,
    head: [],
    instructions: null,
    keep: 0,
    tail: [],
    reply: null,
    model: null,
    effort: null,
    lastMs: null,
    totalTokens: null,
  };
  return {
    read(line) {
      const payload = fieldsIn(line, "payload");
      const timeMs = timeMsOf(line["timestamp"]);
      switch (line["type"]) {
        case "session_meta":
          readMeta(payload, state);
          return [];
        case "turn_context":
          state.model = textIn(payload, "model") ?? state.model;
          state.effort = textIn(payload, "effort") ?? state.effort;
          return [];
        case "response_item":
          return readItem(payload, timeMs, state);
        case "compacted":
          return readCompaction(payload, timeMs, state);
        case "event_msg":
          return payload["type"] === "token_count"
            ? readCount(fieldsIn(payload, "info"), state)
            : [];
        default:
          return [];
      }
    },
    end: () => close(null, state),
  };
}

/** A resumed or forked file also contains the heads of earlier sessions; the first head is its own. */
function readMeta(payload: Fields, state: RolloutState): void {
  if (state.session !== null) return;
  state.session = textIn(payload, "id") ?? state.source.file;
  const instructions =
    textIn(fieldsIn(payload, "base_instructions"), "text") ??
    textIn(payload, "base_instructions") ??
    textIn(payload, "instructions");
  state.instructions = instructions?.trim() ?? null;
  state.head = draftInstructions(instructions, state.source.drafting);
}

/** Newer clients send their instructions as a message, and record them twice. */
function dropRepeated(item: Fields, state: RolloutState): void {
  const texts = listIn(item, "content").map((part) => textIn(fieldsOf(part), "text")?.trim());
  if (state.instructions !== null && texts.includes(state.instructions)) state.head = [];
}

/** Items that the client does not send. */
const unsentItems = ["ghost_snapshot", "other"];

function readItem(item: Fields, timeMs: number | null, state: RolloutState): Recorded[] {
  if (unsentItems.includes(textIn(item, "type") ?? "")) return [];
  const isOutput = isOutputItem(item);
  const isNewReply = isOutput && (state.reply === null || state.reply.isAnswered);
  const recorded = isNewReply ? close(null, state) : [];
  if (isNewReply) openReply(state);
  if (state.reply !== null && isOutput) state.reply.endMs = timeMs ?? state.reply.endMs;
  if (!isOutput) {
    state.lastMs = timeMs ?? state.lastMs;
    if (state.reply !== null) state.reply.isAnswered = true;
  }
  const isHead = isSystemItem(item) && isBeforeUser(state);
  if (isHead) dropRepeated(item, state);
  const isReplyOpen = isOutput && !isNewReply;
  state.tail.push(...draftItem(item, { isHead, isReplyOpen }, state.source.drafting));
  return recorded;
}

function isBeforeUser({ history, tail }: RolloutState): boolean {
  return history.blocks.length === 0 && tail.every(({ tier }) => tier !== "T3");
}

function openReply(state: RolloutState): void {
  const { keep, tail, lastMs } = state;
  state.reply = { keep, sent: tail, startMs: lastMs, endMs: null, isAnswered: false };
  state.tail = [];
}

/** A new count belongs to the reply before it. */
function readCount(info: Fields, state: RolloutState): Recorded[] {
  const total = countIn(fieldsIn(info, "total_token_usage"), "total_tokens") ?? null;
  const last = fieldsIn(info, "last_token_usage");
  if (countIn(last, "input_tokens") === undefined) return [];
  if (total !== null && total === state.totalTokens) return [];
  state.totalTokens = total;
  const { usage } = responsesForm.readUsage({
    input_tokens: last["input_tokens"],
    input_tokens_details: {
      cached_tokens: last["cached_input_tokens"],
      cache_write_tokens: last["cache_write_input_tokens"],
    },
    output_tokens: last["output_tokens"],
    output_tokens_details: { reasoning_tokens: last["reasoning_output_tokens"] },
  });
  return close(usage, state);
}

/** The summary replaces the history. */
function readCompaction(payload: Fields, timeMs: number | null, state: RolloutState): Recorded[] {
  const recorded = close(null, state);
  const { drafting } = state.source;
  const replacement = listIn(payload, "replacement_history");
  const summary = { role: "user", content: payload["message"] };
  const items = replacement.length > 0 ? replacement.map(fieldsOf) : [summary];
  state.keep = state.head.length;
  state.tail = items.flatMap((item) =>
    draftItem(item, { isHead: false, isReplyOpen: false }, drafting),
  );
  state.lastMs = timeMs ?? state.lastMs;
  return recorded;
}

/** The request that the open reply answers, if any. */
function close(usage: Usage | null, state: RolloutState): Recorded[] {
  const { reply, history, source, model } = state;
  if (reply === null) return [];
  state.reply = null;
  const opening = state.sessionId === null ? [openSession(source, state.session, facts)] : [];
  const sessionId = (state.sessionId ??= opening[0]?.session.id ?? source.file);
  const isFirst = history.blocks.length === 0;
  const shown = [...state.head, ...reply.sent];
  if (isFirst) {
    // Rollouts do not contain the tools; the first bill shows their size.
    const tools = draftHidden(sessionId, "T0", { usage, model, shown }, source.drafting);
    state.head = [...tools, ...state.head];
  }
  const { startMs, endMs } = reply;
  const effort = state.effort === null ? {} : { effort: state.effort };
  const request = history.advance(
    isFirst ? 0 : reply.keep,
    isFirst ? [...state.head, ...reply.sent] : reply.sent,
    { thread: "", startMs, endMs, model, usage, settings: effort },
  );
  state.keep = history.blocks.length;
  state.tail = sizeReasoning(state.tail, usage?.reasoningTokens ?? 0);
  return [...opening, { type: "request", sessionId, request }];
}

const facts = { format: "codex", agent: "codex", wire: responsesForm.name } as const;
