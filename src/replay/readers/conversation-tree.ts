// A transcript whose entries name their parents, and the path from its root to the entry last answered.
import type { RecordedRequest } from "../recording.ts";
import { draftHidden, type BlockDraft, type Drafting } from "./block-draft.ts";
import { createThreadHistory, joinMessages, type RequestFacts } from "./thread-history.ts";

/** The blocks at one place of the conversation. */
export interface TreeNode {
  /** Null at a root, and at a summary that replaces everything before it. */
  readonly parent: TreeNode | null;
  readonly thread: string;
  /** Grows while pieces of a reply arrive. */
  readonly blocks: BlockDraft[];
  /** When its last line was written. */
  lastMs: number | null;
  /** Its index on the current path from the root; negative if it is not on it. */
  place: number;
}

export function createNode(
  parent: TreeNode | null,
  thread: string,
  blocks: readonly BlockDraft[],
  lastMs: number | null,
): TreeNode {
  return { parent, thread, blocks: [...blocks], lastMs, place: -1 };
}

/** The nodes from `first` to `last`; empty if `first` is no ancestor of `last`. */
export function nodesBetween(first: TreeNode | null, last: TreeNode | null): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let node = last; node !== null; node = node.parent) {
    nodes.push(node);
    if (node === first) return nodes.toReversed();
  }
  return [];
}

/** A request: everything from the root to `tip` was sent. */
export interface TreeRequest extends Omit<RequestFacts, "thread" | "startMs" | "markers"> {
  /** Null if the reply has no parent. */
  readonly tip: TreeNode | null;
}

export type ThreadWay = (request: TreeRequest) => RecordedRequest;

/** `owner` identifies the unrecorded part of the prompt, which no other session or thread shares. */
export function createThreadWay(thread: string, owner: string, drafting: Drafting): ThreadWay {
  const history = createThreadHistory();
  const way: { readonly node: TreeNode; readonly end: number }[] = [];
  let head: readonly BlockDraft[] | undefined;

  /** Cuts the path at the common ancestor and returns the new nodes up to `tip`. */
  const leaveFor = (tip: TreeNode | null): TreeNode[] => {
    const fresh: TreeNode[] = [];
    let node = tip;
    while (node !== null && way[node.place]?.node !== node) {
      fresh.push(node);
      node = node.parent;
    }
    way.length = node === null ? 0 : node.place + 1;
    return fresh.toReversed();
  };

  return ({ tip, endMs, model, usage, settings }) => {
    const fresh = leaveFor(tip);
    const keep = way.at(-1)?.end;
    const grown = joinMessages(fresh.flatMap(({ blocks }) => blocks));
    const isFirst = head === undefined;
    head ??= draftHidden(owner, "T1", { usage, model, shown: grown }, drafting);
    let end = keep ?? head.length;
    for (const node of fresh) {
      end += node.blocks.length;
      node.place = way.length;
      way.push({ node, end });
    }
    const facts = { thread, startMs: tip?.lastMs ?? null, endMs, model, usage, settings };
    return isFirst
      ? history.advance(0, [...head, ...grown], facts)
      : history.advance(keep ?? head.length, grown, facts);
  };
}
