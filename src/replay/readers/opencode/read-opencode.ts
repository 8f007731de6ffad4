// Reads sessions of opencode, as `opencode export` writes them or as gathered from its storage: messages with their parts.
import {
  countIn,
  fieldsIn,
  fieldsOf,
  isObject,
  listIn,
  textIn,
  type Fields,
} from "../../../core/message/fields.ts";
import type { Recorded } from "../../recording.ts";
import {
  createNode,
  createThreadWay,
  nodesBetween,
  type ThreadWay,
  type TreeNode,
} from "../conversation-tree.ts";
import { openSession, skip, type LineReader, type Source } from "../line-reader.ts";
import { draftStep, draftUser, protocolOf, readUsage, toolsEndedMs } from "./opencode-messages.ts";

export function isOpencode(line: Fields): boolean {
  const first = listIn(line, "messages")[0];
  return (
    isObject(line["info"]) &&
    typeof line["info"]["id"] === "string" &&
    Array.isArray(line["messages"]) &&
    (first === undefined ||
      (isObject(first) && isObject(first["info"]) && Array.isArray(first["parts"])))
  );
}

interface OpencodeState {
  readonly source: Source;
  readonly number: number;
  readonly id: string | null;
  /** By message, its node. */
  readonly byId: Map<string, TreeNode>;
  last: TreeNode | null;
  /** The question for a summary, and the message from which on the history is kept besides it. */
  compaction: { readonly node: TreeNode; readonly tailId: string | null } | null;
  sessionId: string | null;
  readonly ways: Map<string, ThreadWay>;
}

export function createOpencodeReader(source: Source): LineReader {
  return {
    read(line, number) {
      if (!isOpencode(line)) return [skip(source.file, number, "it is not an exported session")];
      const state: OpencodeState = {
        source,
        number,
        id: textIn(fieldsIn(line, "info"), "id") ?? null,
        byId: new Map(),
        last: null,
        compaction: null,
        sessionId: null,
        ways: new Map(),
      };
      return listIn(line, "messages").flatMap((each) => addMessage(fieldsOf(each), state));
    },
    end: () => [],
  };
}

function addMessage(message: Fields, state: OpencodeState): Recorded[] {
  const info = fieldsIn(message, "info");
  const parts = listIn(message, "parts").map(fieldsOf);
  if (info["role"] === "assistant") return addReply(info, parts, state);
  if (info["role"] !== "user")
    return [skip(state.source.file, state.number, "its role is not known")];
  const blocks = draftUser(parts, state.source.drafting);
  const node = createNode(
    state.last,
    "",
    blocks,
    countIn(fieldsIn(info, "time"), "created") ?? null,
  );
  const compaction = parts.find(({ type }) => type === "compaction");
  if (compaction !== undefined) {
    state.compaction = { node, tailId: textIn(compaction, "tail_start_id") ?? null };
  }
  advance(info, node, state);
  return [];
}

function advance(info: Fields, node: TreeNode, state: OpencodeState): void {
  state.last = node;
  const id = textIn(info, "id");
  if (id !== undefined) state.byId.set(id, node);
}

/** Old versions keep several steps in one message; each was a call. A reply that failed is not sent again. */
function addReply(info: Fields, parts: readonly Fields[], state: OpencodeState): Recorded[] {
  const { source, number } = state;
  const error = textIn(fieldsIn(info, "error"), "name");
  const steps = splitSteps(info, parts);
  const before = state.last;
  const isSummary = info["summary"] === true;
  const thread = isSummary ? "summary" : "";
  const recorded: Recorded[] = [];
  let startMs = countIn(fieldsIn(info, "time"), "created") ?? null;
  for (const [index, step] of steps.entries()) {
    const usage = readUsage(step.tokens, protocolOf(info));
    const isLast = index === steps.length - 1;
    if (usage === null) {
      const why = error === undefined ? "the reply has no usage" : `the reply failed: ${error}`;
      recorded.push(skip(source.file, number, why));
    } else if (source.run.claimReply(`opencode ${textIn(info, "id") ?? ""} ${index}`)) {
      const completed = countIn(fieldsIn(info, "time"), "completed") ?? null;
      const { opening, sessionId, way } = openOnce(thread, info, state);
      const request = way({
        tip: state.last,
        endMs: isLast ? completed : null,
        model: textIn(info, "modelID") ?? null,
        usage,
        settings: {},
      });
      const timed = { ...request, startMs: startMs ?? request.startMs };
      recorded.push(...opening, { type: "request", sessionId, request: timed });
    } else recorded.push(skip(source.file, number, "the reply was read from another file"));
    startMs = toolsEndedMs(step.parts);
    const blocks = draftStep(step.parts, source.drafting);
    advance(info, createNode(state.last, "", blocks, startMs), state);
  }
  if (error !== undefined) state.last = before;
  else if (isSummary) startOver(state);
  return recorded;
}

interface ReplyStep {
  readonly parts: readonly Fields[];
  readonly tokens: unknown;
}

function splitSteps(info: Fields, parts: readonly Fields[]): readonly ReplyStep[] {
  const steps: ReplyStep[] = [];
  let open: Fields[] = [];
  for (const part of parts) {
    if (part["type"] === "step-finish") {
      steps.push({ parts: open, tokens: part["tokens"] });
      open = [];
    } else open.push(part);
  }
  if (steps.length === 0) return [{ parts, tokens: info["tokens"] }];
  // What came after the last finished step was cut off before its counts.
  const rest = draftable(open) ? [{ parts: open, tokens: null }] : [];
  return [...steps, ...rest];
}

function draftable(parts: readonly Fields[]): boolean {
  return parts.some(({ type }) => type === "text" || type === "tool" || type === "reasoning");
}

/** After a summary the history is its question, the summary, and what was kept. */
function startOver(state: OpencodeState): void {
  const { compaction, last, byId } = state;
  state.compaction = null;
  if (compaction === null || last === null) return;
  const { node, tailId } = compaction;
  const tail = tailId === null ? null : (byId.get(tailId) ?? null);
  const kept = tail === null ? [] : nodesBetween(tail, node.parent);
  const blocks = [node, last, ...kept].flatMap((each) => each.blocks);
  state.last = createNode(null, "", blocks, last.lastMs);
}

/** A summary is asked for with another system prompt and without tools: a thread of its own. */
function openOnce(
  thread: string,
  info: Fields,
  state: OpencodeState,
): { readonly opening: readonly Recorded[]; readonly sessionId: string; readonly way: ThreadWay } {
  const { source, id } = state;
  const wire = protocolOf(info)?.name ?? null;
  const opening =
    state.sessionId === null
      ? [openSession(source, id, { format: "opencode", agent: "opencode", wire })]
      : [];
  const sessionId = (state.sessionId ??= opening[0]?.session.id ?? source.file);
  const way =
    state.ways.get(thread) ?? createThreadWay(thread, `${sessionId} ${thread}`, source.drafting);
  state.ways.set(thread, way);
  return { opening, sessionId, way };
}
