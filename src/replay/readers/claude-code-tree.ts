// The lines of a Claude Code session as a tree: one node per reply with its tool results; summaries are roots.
import { fieldsIn, fieldsOf, listIn, textIn, type Fields } from "../../core/message/fields.ts";
import type { BlockDraft, Drafting } from "./block-draft.ts";
import { createNode, nodesBetween, type TreeNode } from "./conversation-tree.ts";
import { timeMsOf } from "./line-reader.ts";
import { draftMessage } from "./forms/messages-form.ts";

export interface SessionTree {
  /** Adds a line and returns what it was. */
  add(line: Fields): Added;
}

export type Added =
  | { readonly type: "context"; readonly isOrphan: boolean }
  /** A piece of a reply. */
  | {
      readonly type: "reply";
      readonly isOrphan: boolean;
      readonly id: string;
      readonly thread: string;
      /** The node it answers; only on the first piece. */
      readonly tip: TreeNode | null | undefined;
    }
  /** A repeated line, or a piece of a reply that was already answered. */
  | { readonly type: "repeated" };

interface TreeState {
  readonly drafting: Drafting;
  readonly byUuid: Map<string, TreeNode>;
  readonly replies: Map<string, TreeNode>;
  /** Replies that can still get pieces and tool results. */
  readonly open: Set<TreeNode>;
  /** The last node of each thread, for lines whose parent is missing. */
  readonly last: Map<string, TreeNode>;
  /** Nodes that the next summary keeps. */
  kept: readonly TreeNode[];
}

interface Place {
  readonly thread: string;
  readonly parent: TreeNode | null;
  readonly timeMs: number | null;
}

export function createSessionTree(drafting: Drafting): SessionTree {
  const state: TreeState = {
    drafting,
    byUuid: new Map(),
    replies: new Map(),
    open: new Set(),
    last: new Map(),
    kept: [],
  };
  return {
    add(line) {
      const uuid = textIn(line, "uuid");
      if (uuid === undefined) return { type: "context", isOrphan: false };
      if (state.byUuid.has(uuid)) return { type: "repeated" };
      const parentUuid = textIn(line, "parentUuid");
      const named = parentUuid === undefined ? null : state.byUuid.get(parentUuid);
      const thread = threadOf(line, uuid, named);
      const parent = named ?? (named === null ? null : (state.last.get(thread) ?? null));
      const place = { thread, parent, timeMs: timeMsOf(line["timestamp"]) };
      const isReply = line["type"] === "assistant" && !isMadeUp(line);
      const { node, added } = isReply
        ? addPiece(line, textIn(fieldsIn(line, "message"), "id") ?? uuid, place, state)
        : { node: addContext(line, place, state), added: { type: "context" } as const };
      // A line without content stands for its parent; a first such line has none.
      const known = node ?? createNode(null, thread, [], place.timeMs);
      state.byUuid.set(uuid, known);
      state.last.set(thread, known);
      return added.type === "repeated" ? added : { ...added, isOrphan: named === undefined };
    },
  };
}

/** Side chains and sub-agents are their own threads, named by the agent's id or by their first line. */
function threadOf(line: Fields, uuid: string, parent: TreeNode | null | undefined): string {
  if (line["isSidechain"] !== true) return "";
  return textIn(line, "agentId") ?? (parent?.thread || uuid);
}

/** Errors that the client shows as replies are neither billed nor sent. */
function isMadeUp(line: Fields): boolean {
  return line["isApiErrorMessage"] === true || fieldsIn(line, "message")["model"] === "<synthetic>";
}

interface AddedPiece {
  readonly node: TreeNode;
  readonly added:
    | Omit<Extract<Added, { readonly type: "reply" }>, "isOrphan">
    | { readonly type: "repeated" };
}

/** Pieces of a reply go before tool results that came between them. */
function addPiece(line: Fields, id: string, place: Place, state: TreeState): AddedPiece {
  const { thread, parent, timeMs } = place;
  const key = `${thread} ${id}`;
  const piece = draftMessage({ ...fieldsIn(line, "message"), role: "assistant" }, state.drafting);
  const begun = state.replies.get(key);
  if (begun === undefined) {
    seal(parent, state);
    const node = createNode(parent, thread, piece, timeMs);
    state.replies.set(key, node);
    state.open.add(node);
    return { node, added: { type: "reply", id, thread, tip: parent } };
  }
  if (!state.open.has(begun)) return { node: begun, added: { type: "repeated" } };
  const answer = begun.blocks.findIndex(({ role }) => role !== "assistant");
  begun.blocks.splice(answer === -1 ? begun.blocks.length : answer, 0, ...piece.map(continued));
  begun.lastMs = timeMs ?? begun.lastMs;
  return { node: begun, added: { type: "reply", id, thread, tip: undefined } };
}

/** Later pieces do not open a reply. */
function continued(draft: BlockDraft): BlockDraft {
  const { size } = draft;
  return typeof size === "number" ? draft : { ...draft, size: { ...size, replies: 0 } };
}

/** A node that is answered is complete. */
function seal(tip: TreeNode | null, { open }: TreeState): void {
  let node = tip;
  while (node !== null && !open.has(node)) {
    if (node.place >= 0) return;
    node = node.parent;
  }
  if (node !== null) open.delete(node);
}

/** Returns the node that the next line continues. */
function addContext(line: Fields, place: Place, state: TreeState): TreeNode | null {
  const { thread, parent, timeMs } = place;
  switch (line["type"]) {
    case "user": {
      if (line["isVisibleInTranscriptOnly"] === true) return parent;
      const message = { ...fieldsIn(line, "message"), role: "user" };
      const blocks = draftMessage(message, state.drafting);
      if (line["isCompactSummary"] === true) {
        return keepAfter(createNode(null, thread, blocks, timeMs), state);
      }
      if (parent === null || !state.open.has(parent) || !hasResult(message)) {
        return createNode(parent, thread, blocks, timeMs);
      }
      // Results of parallel calls name different pieces as parents, but were sent together.
      parent.blocks.push(...blocks);
      parent.lastMs = timeMs ?? parent.lastMs;
      return parent;
    }
    case "attachment": {
      const content = attachedText(fieldsIn(line, "attachment"));
      if (content === undefined) return parent;
      const blocks = draftMessage({ role: "user", content }, state.drafting);
      return createNode(parent, thread, blocks, timeMs);
    }
    case "system":
      if (line["subtype"] !== "compact_boundary") return parent;
      state.kept = keptNodes(fieldsIn(line, "compactMetadata"), state);
      return createNode(null, thread, [], timeMs);
    default:
      return parent;
  }
}

function hasResult(message: Fields): boolean {
  return listIn(message, "content").some((block) => fieldsOf(block)["type"] === "tool_result");
}

/** The text of an attachment, if the file has it: a queued prompt, a file, a note. */
function attachedText(attachment: Fields): string | undefined {
  const file = fieldsIn(fieldsIn(attachment, "content"), "file");
  return textIn(attachment, "content") ?? textIn(attachment, "prompt") ?? textIn(file, "content");
}

/** Messages that a summary keeps: listed one by one, or as first and last. */
function keptNodes(metadata: Fields, { byUuid }: TreeState): TreeNode[] {
  const named = listIn(fieldsIn(metadata, "preservedMessages"), "uuids").flatMap((uuid) => {
    const node = typeof uuid === "string" ? byUuid.get(uuid) : undefined;
    return node === undefined ? [] : [node];
  });
  if (named.length > 0) return [...new Set(named)];
  const segment = fieldsIn(metadata, "preservedSegment");
  const [first, last] = [textIn(segment, "headUuid"), textIn(segment, "tailUuid")];
  return nodesBetween(byUuid.get(first ?? "") ?? null, byUuid.get(last ?? "") ?? null);
}

/** Moves the kept nodes after the summary, so that lines continuing them continue there. */
function keepAfter(summary: TreeNode, state: TreeState): TreeNode {
  let tip = summary;
  const moved = new Map<TreeNode, TreeNode>();
  for (const node of state.kept) {
    tip = createNode(tip, summary.thread, node.blocks, node.lastMs);
    moved.set(node, tip);
  }
  state.kept = [];
  if (moved.size === 0) return summary;
  for (const [uuid, node] of state.byUuid) {
    const to = moved.get(node);
    if (to !== undefined) state.byUuid.set(uuid, to);
  }
  // The request follows the summary, not the older messages it keeps.
  tip.lastMs = summary.lastMs;
  return tip;
}
