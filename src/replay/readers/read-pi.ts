// Reads sessions of pi and of OpenClaw, which is built on it: entries that name their parents; a reply is one entry with its usage.
import { promptTokens } from "../../core/message/usage.ts";
import { fieldsIn, textIn, type Fields } from "../../core/message/fields.ts";
import type { Recorded } from "../recording.ts";
import {
  createNode,
  createThreadWay,
  nodesBetween,
  type ThreadWay,
  type TreeNode,
} from "./conversation-tree.ts";
import { openSession, skip, timeMsOf, type LineReader, type Source } from "./line-reader.ts";
import { draftMessage } from "./forms/messages-form.ts";
import { protocolOf, toContent, usageOf } from "./forms/pi-messages.ts";

export function isPi(line: Fields): boolean {
  return (
    line["type"] === "session" &&
    typeof line["id"] === "string" &&
    ("cwd" in line || "version" in line)
  );
}

interface PiState {
  readonly source: Source;
  readonly byId: Map<string, TreeNode | null>;
  /** The previous entry, for files without parents. */
  last: TreeNode | null;
  session: string | null;
  opened: { readonly id: string; readonly way: ThreadWay } | null;
  thinking: string | null;
  hasOrphan: boolean;
}

export function createPiReader(source: Source): LineReader {
  const state: PiState = {
    source,
    byId: new Map(),
    last: null,
    session: null,
    opened: null,
    thinking: null,
    hasOrphan: false,
  };
  return {
    read(line, number) {
      if (line["type"] === "session") {
        state.session ??= textIn(line, "id") ?? null;
        return [];
      }
      if (line["type"] === "thinking_level_change") {
        state.thinking = textIn(line, "thinkingLevel") ?? null;
      }
      const parentId = textIn(line, "parentId");
      const isOrphan = parentId !== undefined && !state.byId.has(parentId);
      const parent = parentOf(line, parentId, isOrphan, state);
      const { node, recorded } = addEntry(line, number, parent, state);
      state.last = node;
      const id = textIn(line, "id");
      if (id !== undefined) state.byId.set(id, node);
      if (!isOrphan || state.hasOrphan) return recorded;
      state.hasOrphan = true;
      const reason =
        "the entry it follows is missing; from here on such entries follow the one before";
      return [skip(source.file, number, reason), ...recorded];
    },
    end: () => [],
  };
}

function parentOf(
  line: Fields,
  parentId: string | undefined,
  isOrphan: boolean,
  { byId, last }: PiState,
): TreeNode | null {
  if (parentId !== undefined && !isOrphan) return byId.get(parentId) ?? null;
  return isOrphan || !("parentId" in line) ? last : null;
}

interface AddedEntry {
  readonly node: TreeNode | null;
  readonly recorded: readonly Recorded[];
}

function addEntry(
  line: Fields,
  number: number,
  parent: TreeNode | null,
  state: PiState,
): AddedEntry {
  const timeMs = timeMsOf(line["timestamp"]);
  const say = (content: unknown): AddedEntry => {
    const blocks = draftMessage({ role: "user", content }, state.source.drafting);
    return { node: createNode(parent, "", blocks, timeMs), recorded: [] };
  };
  switch (line["type"]) {
    case "message":
      return addMessage(fieldsIn(line, "message"), { line: number, parent, timeMs }, state, say);
    case "custom_message":
      return say(toContent(line["content"]));
    case "branch_summary":
      return say(textIn(line, "summary") ?? "");
    case "compaction": {
      const first = state.byId.get(textIn(line, "firstKeptEntryId") ?? "") ?? null;
      const kept = nodesBetween(first, parent).flatMap((node) => node.blocks);
      const summary = textIn(line, "summary") ?? "";
      const blocks = draftMessage({ role: "user", content: summary }, state.source.drafting);
      return { node: createNode(null, "", [...blocks, ...kept], timeMs), recorded: [] };
    }
    default:
      return { node: parent, recorded: [] };
  }
}

interface EntryPlace {
  readonly line: number;
  readonly parent: TreeNode | null;
  readonly timeMs: number | null;
}

function addMessage(
  message: Fields,
  place: EntryPlace,
  state: PiState,
  say: (content: unknown) => AddedEntry,
): AddedEntry {
  switch (message["role"]) {
    case "assistant":
      return addReply(message, place, state);
    case "toolResult":
      return say([
        {
          type: "tool_result",
          tool_use_id: message["toolCallId"],
          content: toContent(message["content"]),
          ...(message["isError"] === true ? { is_error: true } : {}),
        },
      ]);
    case "bashExecution":
      if (message["excludeFromContext"] === true) return { node: place.parent, recorded: [] };
      return say(`${textIn(message, "command") ?? ""}\n${textIn(message, "output") ?? ""}`);
    case "branchSummary":
    case "compactionSummary":
      return say(textIn(message, "summary") ?? "");
    default:
      return say(toContent(message["content"]));
  }
}

/** A failed reply is not sent again; it counts if it was billed. */
function addReply(
  message: Fields,
  { line, parent, timeMs }: EntryPlace,
  state: PiState,
): AddedEntry {
  const { file, drafting } = state.source;
  if (isEcho(message)) {
    const reason = "it repeats what was delivered, and no model made it";
    return { node: parent, recorded: [skip(file, line, reason)] };
  }
  const { opening, id, way } = openOnce(message, state);
  const usage = usageOf(message);
  const stop = textIn(message, "stopReason") ?? "";
  const hasFailed = stop === "error" || stop === "aborted";
  if (hasFailed && (usage === null || promptTokens(usage) === 0)) {
    return { node: parent, recorded: [...opening, skip(file, line, `the reply failed: ${stop}`)] };
  }
  const { thinking } = state;
  const request = way({
    tip: parent,
    endMs: timeMs,
    model: textIn(message, "model") ?? null,
    usage,
    settings: thinking === null || thinking === "off" ? {} : { thinking },
  });
  const recorded: Recorded[] = [...opening, { type: "request", sessionId: id, request }];
  if (hasFailed) return { node: parent, recorded };
  const reply = { role: "assistant", content: toContent(message["content"]) };
  return { node: createNode(parent, "", draftMessage(reply, drafting), timeMs), recorded };
}

/** OpenClaw also notes as an assistant's message what it delivered itself. */
function isEcho({ provider, model }: Fields): boolean {
  return provider === "openclaw" && (model === "delivery-mirror" || model === "gateway-injected");
}

function openOnce(
  message: Fields,
  state: PiState,
): { readonly opening: readonly Recorded[]; readonly id: string; readonly way: ThreadWay } {
  if (state.opened !== null) return { opening: [], ...state.opened };
  const wire = protocolOf(message)?.name ?? null;
  const opening = openSession(state.source, state.session, { format: "pi", agent: "pi", wire });
  const { id } = opening.session;
  state.opened = { id, way: createThreadWay("", id, state.source.drafting) };
  return { opening: [opening], ...state.opened };
}
