// The line of a call that another gateway saw: its blocks are found in prompts that begin alike, and the rest follows from them.
import { rememberView, type RememberedCall } from "../../core/diagnosis/remember-call.ts";
import { viewPrompt, type PromptView } from "../../core/diagnosis/prompt-view.ts";
import type { ConversationBlock } from "../../core/ledger/gateway-call.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import {
  chainBlocks,
  type ForeignBlock,
  type ForeignRequest,
  type RequestSettings,
} from "../../core/wire/foreign/foreign-request.ts";
import type { Branch } from "../observe/conversation.ts";
import { unpackTracked, type KeyAt } from "./pack-entries.ts";
import { unpackBlock, type BlocksForm, type LineForm, type RequestFrame } from "./state-form.ts";
import { longSetting } from "./write-state.ts";

/** Null if no list has the beginning. Blocks of the lists are used where they are the same. */
export function findBlocks(
  form: BlocksForm,
  lists: readonly (readonly ForeignBlock[])[],
): readonly ForeignBlock[] | null {
  const { baseCount, baseKey, baseTokens } = form;
  const begins = (list: readonly ForeignBlock[]): boolean =>
    baseCount === 0 || list[baseCount - 1]?.key === baseKey;
  const base = lists.find(begins);
  if (base === undefined && baseCount > 0) return null;
  const last = chainBlocks(form.last.map(unpackBlock), baseKey, baseTokens).map((block, index) => {
    const at = baseCount + index;
    return lists.find((list) => list[at]?.key === block.key)?.[at] ?? block;
  });
  return [...(base ?? []).slice(0, baseCount), ...last];
}

/** As the ledger has them: without paths. The beginning of the prompt must be among them. */
export function fromRecorded(recorded: readonly ConversationBlock[]): readonly ForeignBlock[] {
  return chainBlocks(
    recorded.map((block, index) => ({
      ...block,
      path: "",
      text: "",
      endsMessage: recorded[index + 1]?.role !== block.role,
      mayCarryMarker: true,
    })),
  );
}

export interface LineToRead {
  readonly form: LineForm;
  readonly blocks: readonly ForeignBlock[];
  /** Null for a model that is not listed. */
  readonly facts: ModelFacts | null;
  readonly fromMs: number;
  /** What this gateway knows of the conversation; null for nothing. */
  readonly before: Branch | null;
  /** The settings of the request at hand, in which a hash of long settings is found again. */
  readonly settings: RequestSettings;
}

export function readLine(line: LineToRead): Branch {
  const { form, blocks, facts, before } = line;
  const request = toRequest(form.frame, blocks, line.settings);
  const view =
    facts === null || !form.hasView ? null : viewPrompt(request, facts, before?.view ?? null);
  return {
    model: form.model,
    blocks,
    view,
    remembered: facts === null ? null : readRemembered(line, request, view, facts),
    answered: form.answered,
    servedBy: form.servedBy,
    ...(form.replyId !== undefined && { replyId: form.replyId }),
    // An earlier body of the conversation, so that the next one is not parsed whole.
    document: before?.document ?? null,
  };
}

function toRequest(
  { markers, settings, ...frame }: RequestFrame,
  blocks: readonly ForeignBlock[],
  own: RequestSettings,
): ForeignRequest {
  return {
    ...frame,
    blocks,
    markers: markers.map(([block, lifetime]) => ({
      block,
      lifetime,
      path: blocks[block]?.path ?? "",
    })),
    strayMarkers: [],
    settings: withLong(settings, own),
  };
}

function withLong(settings: RequestSettings, own: RequestSettings): RequestSettings {
  const known = new Map(Object.entries(own));
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const now = known.get(name);
      return [name, now !== undefined && longSetting(now) === value ? now : value];
    }),
  );
}

function readRemembered(
  { form, blocks, fromMs, settings: own }: LineToRead,
  request: ForeignRequest,
  ofLine: PromptView | null,
  rules: ModelFacts,
): RememberedCall | null {
  const { remembered, answered } = form;
  if (remembered === null) return null;
  const { entries, count, settings: packed, ...rest } = remembered;
  const settings = withLong(packed, own);
  const view =
    ofLine !== null && count === blocks.length
      ? ofLine
      : viewPrompt({ ...request, settings, blocks: blocks.slice(0, count) }, rules);
  if (entries === null) {
    return answered === null ? null : rememberView({ view, rules, entries: [], ...answered });
  }
  const keyAt: KeyAt = (block) => view.blocks[block]?.key;
  const contentKeyAt: KeyAt = (block) => view.blocks[block]?.contentKey;
  const place = { keyAt, contentKeyAt, model: rest.model, fromMs };
  return {
    ...rest,
    settings,
    blocks: view.blocks,
    entries: entries.flatMap((entry) => unpackTracked(entry, place)),
  };
}
