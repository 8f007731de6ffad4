// A recorded session as one growing conversation, with the messages restored that its client compacted.
import { learnPace, openPace, type Pace } from "../../src/core/cache/pace.ts";
import type { HistoryMessage } from "../../src/core/compaction/history.ts";
import type { Message } from "../../src/core/message/message.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import type { Recorded, RecordedBlock, RecordedRequest } from "../../src/replay/recording.ts";
import { createModelLookup } from "../../src/replay/replay-model.ts";

export interface RecordedThread {
  readonly id: string;
  readonly calls: readonly RecordedCall[];
  /** Tokens of the longest prompt without compactions. */
  readonly tokensMax: number;
}

export interface RecordedCall {
  readonly request: RecordedRequest;
  readonly model: ModelFacts;
  readonly startMs: number;
  /** Tools and system. */
  readonly foundation: readonly RecordedBlock[];
  /** How many messages of the previous call this one keeps, and the messages it adds. */
  readonly keep: number;
  readonly append: readonly ThreadMessage[];
  /** Learned from the earlier calls. */
  readonly pace: Pace;
}

/** A message without text: its billed blocks, and its form for compaction. */
export interface ThreadMessage extends HistoryMessage {
  readonly blocks: readonly RecordedBlock[];
}

/** Leaves out calls without a time, because reads depend on it. */
export async function* readRecordedThreads(
  recordings: AsyncIterable<Recorded>,
): AsyncGenerator<RecordedThread> {
  const lookUp = createModelLookup(null);
  let thread: OpenThread | null = null;
  for await (const recorded of recordings) {
    if (recorded.type === "session") {
      if (thread !== null) yield thread.close();
      const { session } = recorded;
      thread = openThread(session.id, (request) => lookUp(session, request).facts);
    }
    if (recorded.type === "request" && recorded.request.thread === "")
      thread?.add(recorded.request);
  }
  if (thread !== null) yield thread.close();
}

interface OpenThread {
  readonly add: (request: RecordedRequest) => void;
  readonly close: () => RecordedThread;
}

function openThread(id: string, modelOf: (request: RecordedRequest) => ModelFacts): OpenThread {
  const calls: RecordedCall[] = [];
  /** The recorded blocks, and the end of each message in the whole conversation. */
  let blocks: RecordedBlock[] = [];
  let reached: number[] = [];
  let history: ThreadMessage[] = [];
  let [pace, lastMs, tokensMax, turns] = [openPace("human"), 0, 0, 0];
  return {
    close: () => ({ id, calls, tokensMax }),
    add: (request) => {
      const kept = blocks.slice(0, request.keep);
      const isCompaction =
        kept.length < blocks.length && sum(kept) + sum(request.append) < sum(blocks) / 2;
      blocks = [...kept, ...request.append];
      const foundation = blocks.filter(({ tier }) => tier !== "T3");
      const messages = groupMessages(blocks);
      const keptMessages = groupMessages(kept).length;
      reached = reached.slice(0, keptMessages);
      const keep = isCompaction ? history.length : (reached.at(-1) ?? 0);
      const added = messages
        .slice(keptMessages)
        .slice(isCompaction ? summaryLength(messages, keptMessages) : 0);
      history = history.slice(0, keep);
      for (const group of added) {
        const role = roleOf(group);
        if (role === "user") turns += 1;
        const last = history.at(-1);
        const turnId = `${turns}`;
        const index = last?.turnId === turnId ? last.index + 1 : 0;
        history.push({
          turnId,
          index,
          message: toMessage(role),
          tokens: sum(group),
          blocks: group,
        });
      }
      const missing = messages.length - reached.length - added.length;
      for (let place = 0; place < missing; place += 1) reached.push(keep);
      for (let place = 0; place < added.length; place += 1) reached.push(keep + place + 1);
      tokensMax = Math.max(tokensMax, sum(foundation) + sum(history));
      if (request.startMs === null) return;
      const startMs = Math.max(lastMs, request.startMs);
      if (calls.length > 0) pace = learnPace(pace, startMs - lastMs);
      const append = history.slice(keep);
      calls.push({ request, model: modelOf(request), startMs, foundation, keep, append, pace });
      lastMs = startMs;
    },
  };
}

function groupMessages(blocks: readonly RecordedBlock[]): RecordedBlock[][] {
  const groups: RecordedBlock[][] = [];
  let isOpen = false;
  for (const block of blocks) {
    if (block.tier !== "T3") continue;
    const last = groups.at(-1);
    if (last !== undefined && isOpen && last[0]?.role === block.role) last.push(block);
    else groups.push([block]);
    isOpen = !block.endsMessage;
  }
  return groups;
}

/** A shorter text is not a summary but the user's next message. */
const summaryTokensMin = 500;

function summaryLength(messages: readonly RecordedBlock[][], place: number): number {
  const first = messages[place] ?? [];
  return roleOf(first) === "user" && sum(first) >= summaryTokensMin ? 1 : 0;
}

function roleOf(blocks: readonly RecordedBlock[]): Message["role"] {
  if (blocks.some(({ role }) => role === "assistant")) return "assistant";
  return blocks.some(({ kind }) => kind === "tool_result") ? "tool" : "user";
}

/** A boundary needs only the role: results follow their uses. */
function toMessage(role: Message["role"]): Message {
  return { role, content: role === "user" ? [{ type: "text", text: "" }] : [] };
}

function sum(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0);
}
