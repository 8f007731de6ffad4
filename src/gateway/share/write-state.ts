// A conversation after a call → the row that other gateways find.
import { foundationEnd, keepsEveryPrefix } from "../../core/cache/expect-bill.ts";
import { emptyPrefixKey, hashContent } from "../../core/hash.ts";
import type { ConversationState } from "../../core/ledger/conversation-state.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ForeignBlock, RequestSettings } from "../../core/wire/foreign/foreign-request.ts";
import type { AnsweredConversation } from "./conversation-share.ts";
import { openingOf, type Branch } from "../observe/conversation.ts";
import { packAccounts, packTracked, type KeyAt } from "./pack-entries.ts";
import {
  packBlock,
  stateFormat,
  type BlocksForm,
  type LineForm,
  type RememberedForm,
  type RequestFrame,
  type StateForm,
} from "./state-form.ts";

/** Everything in it is a value that later calls do not change. */
export interface StateToWrite extends AnsweredConversation {
  readonly line: Branch;
  /** What the rewriter learned, spelled with the line's blocks. */
  readonly marks: ((blocks: readonly ForeignBlock[]) => unknown) | null;
}

export function writeState(state: StateToWrite): ConversationState {
  const { conversation, line, endedMs, replyId } = state;
  const { blocks } = line;
  const opening = openingOf(blocks);
  return {
    conversationId: conversation.id,
    tenant: conversation.tenant,
    prefixKey: blocks.at(-1)?.key ?? emptyPrefixKey,
    callNumber: conversation.calls,
    endedMs,
    openingKey: blocks[opening]?.key ?? null,
    headKey: blocks[foundationEnd(blocks)]?.key ?? null,
    thread:
      conversation.session === null ? null : threadOf(conversation.session, conversation.agent),
    replyId: replyId === "" ? null : replyId,
    stateJson: JSON.stringify(toForm(state)),
  };
}

/** The client's name for one agent of its session. */
export function threadOf(session: string, agent: string | null): string {
  return `${session}\n${agent ?? ""}`;
}

function toForm(state: StateToWrite): StateForm {
  const { callId, conversation, line, facts, endedMs, marks, keptBlocks } = state;
  const { session, agent, parentId, role, hasTools, isContinued, summarisedMs } = conversation;
  const keyAt: KeyAt = (block) => line.view?.blocks[block]?.key;
  return {
    format: stateFormat,
    callId,
    fromMs: endedMs,
    session,
    agent,
    parentId,
    role,
    hasTools,
    isContinued,
    summarisedMs,
    accounts: packAccounts(conversation.accounts, keyAt, endedMs),
    line: toLine(line, facts, { keyAt, endedMs, keptBlocks }),
    replaces: state.replaces,
    marks: marks?.(line.blocks) ?? null,
  };
}

interface Spelling {
  readonly keyAt: KeyAt;
  readonly endedMs: number;
  readonly keptBlocks: number;
}

function toLine(line: Branch, facts: ModelFacts | null, spelling: Spelling): LineForm {
  const { model, servedBy, replyId, view, answered } = line;
  return {
    model,
    servedBy,
    ...(replyId !== undefined && { replyId }),
    frame: toFrame(line),
    blocks: toBlocks(line.blocks, spelling.keptBlocks),
    hasView: view !== null,
    answered,
    remembered: facts === null ? null : toRemembered(line, facts, spelling),
  };
}

function toFrame({ view, document, model: name }: Branch): RequestFrame {
  const request = view?.request ?? document?.request;
  const { protocol = "", model = name, markers = [], settings = {} } = request ?? {};
  const { requestMarker = null, mode = "implicit", ownLifetime = null } = request ?? {};
  const { keepsThinking = false, continues = false } = request ?? {};
  return {
    protocol,
    model,
    markers: markers.map(({ block, lifetime }) => [block, lifetime]),
    settings: withoutLong(settings),
    requestMarker,
    mode,
    ownLifetime,
    keepsThinking,
    continues,
  };
}

/** At least so many, because clients rewrite the end of a prompt; and what is new, up to a limit. */
const lastBlocksMin = 12;
const lastBlocksMax = 64;

function toBlocks(blocks: readonly ForeignBlock[], keptBlocks: number): BlocksForm {
  const count = blocks.length;
  const from = Math.min(keptBlocks, count - lastBlocksMin);
  const baseCount = Math.max(0, from, count - lastBlocksMax);
  const base = blocks[baseCount - 1];
  return {
    count,
    baseCount,
    baseKey: base?.key ?? emptyPrefixKey,
    baseTokens: base?.endTokens ?? 0,
    last: blocks.slice(baseCount).map(packBlock),
  };
}

/** Null for a call that cannot be told from the line's blocks. */
function toRemembered(
  { remembered, view, blocks, answered }: Branch,
  { cache }: ModelFacts,
  { keyAt, endedMs }: Spelling,
): RememberedForm | null {
  if (remembered === null) return null;
  const own = remembered.blocks;
  const last = own.at(-1)?.contentKey;
  const isOfLine =
    view !== null && view.blocks.length === own.length && view.blocks.at(-1)?.contentKey === last;
  if (!isOfLine && blocks[own.length - 1]?.key !== last) return null;
  const { model, settings, continues, readTokens, startMs, kept, unkept } = remembered;
  const followsFromRules = keepsEveryPrefix(cache) && answered !== null;
  const contentKeyAt: KeyAt = (block) => own[block]?.contentKey;
  const place = { keyAt, contentKeyAt, model, fromMs: endedMs };
  return {
    count: isOfLine ? blocks.length : own.length,
    model,
    continues,
    readTokens,
    startMs,
    kept,
    unkept,
    settings: withoutLong(settings),
    entries: followsFromRules ? null : remembered.entries.map((entry) => packTracked(entry, place)),
  };
}

/** Some settings hold whole schemas. */
const settingLengthMax = 128;

function withoutLong(settings: RequestSettings): RequestSettings {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      value.length > settingLengthMax ? longSetting(value) : value,
    ]),
  );
}

/** Stands for a long setting. */
export function longSetting(value: string): string {
  return `sha256:${hashContent(value)}`;
}
