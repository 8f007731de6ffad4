// Reads Claude Code sessions: one line per block of a reply; each line names its parent.
import type { Usage } from "../../core/message/usage.ts";
import { countIn, fieldsIn, isObject, textIn, type Fields } from "../../core/message/fields.ts";
import type { Recorded } from "../recording.ts";
import { createAgentProgress } from "./agent-progress.ts";
import { createSessionTree, type Added } from "./claude-code-tree.ts";
import { createThreadWay, type ThreadWay, type TreeNode } from "./conversation-tree.ts";
import { messagesForm } from "./forms/messages-form.ts";
import { openSession, skip, timeMsOf, type LineReader, type Source } from "./line-reader.ts";

export function isClaudeCode(line: Fields): boolean {
  if (line["type"] === "summary") return typeof line["leafUuid"] === "string";
  return typeof line["uuid"] === "string" && "parentUuid" in line;
}

/** A reply that is incomplete, or that waits for an earlier one. */
interface Pending {
  readonly id: string;
  readonly thread: string;
  readonly tip: TreeNode | null;
  /** False if an earlier file had it. */
  readonly isNew: boolean;
  model: string | null;
  usage: Usage | null;
  endMs: number | null;
  isComplete: boolean;
}

interface ReaderState {
  readonly source: Source;
  readonly ways: Map<string, ThreadWay>;
  /** In order of the first piece. */
  readonly pending: Pending[];
  session: string | null;
  sessionId: string | null;
  readonly counts: { repeated: number; known: number };
  hasOrphan: boolean;
}

export function createClaudeCodeReader(source: Source): LineReader {
  const tree = createSessionTree(source.drafting);
  const state: ReaderState = {
    source,
    ways: new Map(),
    pending: [],
    session: null,
    sessionId: null,
    counts: { repeated: 0, known: 0 },
    hasOrphan: false,
  };
  const readOne = (line: Fields, number: number): Recorded[] => {
    const added = tree.add(line);
    if (added.type === "repeated") {
      state.counts.repeated += 1;
      return [];
    }
    const orphan = added.isOrphan && !state.hasOrphan ? [reportOrphan(number, state)] : [];
    if (added.type === "reply") addPiece(line, added, state);
    return [...orphan, ...release(state)];
  };
  const toAgentLines = createAgentProgress();
  return {
    read(line, number) {
      state.session ??= textIn(line, "sessionId") ?? null;
      return [line, ...toAgentLines(line)].flatMap((each) => readOne(each, number));
    },
    end() {
      for (const reply of state.pending) reply.isComplete = true;
      return [...release(state), ...reportCounts(state)];
    },
  };
}

function reportOrphan(line: number, state: ReaderState): Recorded {
  state.hasOrphan = true;
  const reason = "the line it follows is missing; from here on such lines follow the one before";
  return skip(state.source.file, line, reason);
}

function addPiece(
  line: Fields,
  { id, thread, tip }: Extract<Added, { readonly type: "reply" }>,
  { source, pending }: ReaderState,
): void {
  if (tip !== undefined) {
    const before = pending.findLast((reply) => reply.thread === thread);
    if (before !== undefined) before.isComplete = true;
    const requestId = textIn(line, "requestId") ?? "";
    const isNew = source.run.claimReply(`${id} ${requestId}`);
    const nothing = { model: null, usage: null, endMs: null, isComplete: false };
    pending.push({ id, thread, tip, isNew, ...nothing });
  }
  const reply = pending.findLast((each) => each.id === id && each.thread === thread);
  if (reply === undefined) return;
  const message = fieldsIn(line, "message");
  reply.model = textIn(message, "model") ?? reply.model;
  reply.usage = usageOf(message["usage"]) ?? reply.usage;
  reply.endMs = timeMsOf(line["timestamp"]) ?? reply.endMs;
}

/** Null if the prompt tokens are missing. */
function usageOf(usage: unknown): Usage | null {
  if (!isObject(usage) || countIn(usage, "input_tokens") === undefined) return null;
  return messagesForm.readUsage(usage).usage;
}

/** Complete requests, up to the first one that is still open. */
function release(state: ReaderState): Recorded[] {
  const recorded: Recorded[] = [];
  while (state.pending[0]?.isComplete === true) {
    const reply = state.pending.shift();
    if (reply === undefined) break;
    if (reply.isNew) recorded.push(...record(reply, state));
    else state.counts.known += 1;
  }
  return recorded;
}

function record(reply: Pending, state: ReaderState): Recorded[] {
  const { source, ways } = state;
  const opening = state.sessionId === null ? [openSession(source, state.session, facts)] : [];
  const sessionId = (state.sessionId ??= opening[0]?.session.id ?? source.file);
  const way =
    ways.get(reply.thread) ??
    createThreadWay(reply.thread, `${sessionId} ${reply.thread}`, source.drafting);
  ways.set(reply.thread, way);
  const request = way({ ...reply, settings: {} });
  return [...opening, { type: "request", sessionId, request }];
}

const facts = { format: "claude-code", agent: "claude-code", wire: messagesForm.name } as const;

function reportCounts({ source, counts }: ReaderState): Recorded[] {
  const { repeated, known } = counts;
  const reasons = [
    repeated === 0 ? [] : [`${repeated} of its lines repeat earlier ones`],
    known === 0 ? [] : [`${known} of its replies were read in an earlier file`],
  ];
  return reasons.flat().map((reason) => skip(source.file, null, reason));
}
