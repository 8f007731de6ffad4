// A conversation as the observer knows it between two calls.
import { noAccounts, type Accounts } from "../../core/cache/accounts.ts";
import type { AnsweredRequest } from "../../core/diagnosis/kept-prefixes.ts";
import type { PromptView } from "../../core/diagnosis/prompt-view.ts";
import { rememberBlock, type RememberedCall } from "../../core/diagnosis/remember-call.ts";
import type { ForeignBlock, ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import type { CallMarks } from "./client-marks.ts";
import type { ReadDocument } from "./read-body.ts";

export interface Conversation {
  readonly id: string;
  /** Upstream and account: conversations of two accounts are never mixed. */
  readonly tenant: string;
  readonly session: string | null;
  readonly agent: string | null;
  readonly parentId: string | null;
  /** `summary`: one call that asks for a summary of its parent. */
  readonly role: "own" | "summary";
  readonly hasTools: boolean;
  /** Whether a later call went on from an earlier one. */
  isContinued: boolean;
  /** When the client asked for a summary of it; null if it did not, or if the conversation went on since. */
  summarisedMs: number | null;
  calls: number;
  /** The blocks of its last call. */
  lastBlocks: readonly ForeignBlock[];
  /** Calls with the same beginning that went on differently; the latest last. */
  branches: readonly Branch[];
  accounts: Accounts;
  touchedMs: number;
}

/** The latest call on one line of a conversation. */
export interface Branch {
  readonly model: string;
  readonly blocks: readonly ForeignBlock[];
  /** What the provider has cached of it; null until the first reply. */
  readonly remembered: RememberedCall | null;
  /** The reply that it was remembered by. */
  readonly answered: AnsweredAt | null;
  readonly view: PromptView | null;
  /** Its body, to compare the next one with; null if it was dropped to make room. */
  readonly document: ReadDocument | null;
  /** The host that answered last; null if it is not said. */
  readonly servedBy: string | null;
  /** The provider's id of the latest reply; absent or empty if it gave none. */
  readonly replyId?: string;
}

/** What was known of a reply, to remember its call again at another gateway. */
export type AnsweredAt = Pick<AnsweredRequest, "usage" | "startMs" | "readableMs" | "scale">;

export interface CallToPlace {
  readonly tenant: string;
  readonly marks: CallMarks;
  readonly request: ForeignRequest;
  /** One name for every spelling of the model. */
  readonly model: string;
  readonly nowMs: number;
}

/** The state of a conversation before its first call. */
export function beginConversation(
  { tenant, marks, request }: CallToPlace,
  named: Pick<Conversation, "id" | "parentId" | "role">,
): Conversation {
  return {
    ...named,
    tenant,
    session: marks.session,
    agent: marks.agent,
    hasTools: request.blocks.some(({ tier }) => tier === "T0"),
    isContinued: false,
    summarisedMs: null,
    calls: 0,
    lastBlocks: [],
    branches: [],
    accounts: noAccounts,
    touchedMs: 0,
  };
}

/** The first block of the messages; -1 for none. */
export function openingOf(blocks: readonly ForeignBlock[]): number {
  return blocks.findIndex(({ tier }) => tier === "T3");
}

/** Hashes, names and numbers of one block. */
const blockBytes = 600;

/** About how much memory it takes: a body is kept as bytes and as the texts of its blocks. */
export function weightOf({ branches }: Conversation): number {
  return branches.reduce(
    (sum, { document, blocks }) => sum + blocks.length * blockBytes + bytesOf(document) * 2,
    0,
  );
}

/** What the next call is compared with, without the content. */
export function withoutTexts(branch: Branch): Branch {
  const { remembered, blocks } = branch;
  return {
    ...branch,
    document: null,
    view: null,
    blocks: blocks.map((block) => ({ ...block, text: "" })),
    remembered: remembered && { ...remembered, blocks: remembered.blocks.map(rememberBlock) },
  };
}

/** Counts a body, and the client's own body too if this one was made from it. */
function bytesOf(document: ReadDocument | null): number {
  return (document?.byteLength ?? 0) + (document?.original?.byteLength ?? 0);
}
