// Messages in the form of the Messages API. Claude Code, pi and ctx-trace store theirs in it, for any protocol.
import type { Fields } from "../../../core/message/fields.ts";
import { toJsonTree } from "../../../core/message/json-tree.ts";
import { anthropicMessages } from "../../../core/wire/anthropic-messages/index.ts";
import type { ReadShape, RequestSettings } from "../../../core/wire/foreign/foreign-request.ts";
import type { Protocol } from "../../../core/wire/protocol.ts";
import { createDrafts, type BlockDraft, type Drafting } from "../block-draft.ts";

export const messagesForm: Protocol = anthropicMessages;

/** One message; a role that is neither the model's nor the system's speaks for the user. */
export function draftMessage(message: Fields, drafting: Drafting): BlockDraft[] {
  return createDrafts(readBody({ messages: [message] }).drafts, drafting);
}

/** The tools a request shows. A deferred one is outside the prompt until a message names it. */
export function draftTools(tools: unknown, drafting: Drafting): BlockDraft[] {
  return createDrafts(readBody({ tools }).drafts, drafting);
}

/** Text, or a list of blocks. */
export function draftSystem(system: unknown, drafting: Drafting): BlockDraft[] {
  return createDrafts(readBody({ system }).drafts, drafting);
}

/** What besides blocks can invalidate a prefix. */
export function readSettings(params: Fields): RequestSettings {
  return readBody(params).settings;
}

function readBody(body: Fields): ReadShape {
  return messagesForm.foreign.read(toJsonTree(body), undefined);
}
