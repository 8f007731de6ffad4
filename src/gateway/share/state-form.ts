// How the state of a conversation is written in the ledger: JSON without content, whose size does not grow with the conversation.
import type { KeptPrefixes } from "../../core/diagnosis/kept-prefixes.ts";
import type { ContentHash } from "../../core/hash.ts";
import { isObject } from "../../core/message/fields.ts";
import type { Lifetime } from "../../core/message/usage.ts";
import type {
  ForeignBlock,
  ForeignRequest,
  LooseBlock,
  RequestSettings,
} from "../../core/wire/foreign/foreign-request.ts";
import type { AnsweredAt, Conversation } from "../observe/conversation.ts";
import type { PackedAccounts, PackedTracked } from "./pack-entries.ts";

/** Another form gets another number; a gateway ignores states in a form that it does not know. */
export const stateFormat = 1;

export interface StateForm extends Pick<
  Conversation,
  "session" | "agent" | "parentId" | "role" | "hasTools" | "isContinued" | "summarisedMs"
> {
  readonly format: typeof stateFormat;
  /** The call after which it was written. */
  readonly callId: string;
  /** From which times are counted back. */
  readonly fromMs: number;
  readonly accounts: PackedAccounts;
  /** The line of the call. */
  readonly line: LineForm;
  /** The last key of the line that it took the place of; null for none. */
  readonly replaces: ContentHash | null;
  /** As the rewriter spelled it; null for nothing. */
  readonly marks: unknown;
}

/** Null for what is not in this form. */
export function readStateForm(text: string): StateForm | null {
  const value: unknown = JSON.parse(text);
  return isStateForm(value) ? value : null;
}

function isStateForm(value: unknown): value is StateForm {
  return isObject(value) && value["format"] === stateFormat && isObject(value["line"]);
}

export interface LineForm {
  readonly model: string;
  readonly servedBy: string | null;
  readonly replyId?: string;
  readonly frame: RequestFrame;
  readonly blocks: BlocksForm;
  /** Whether the model was listed and the reply said its usage. */
  readonly hasView: boolean;
  readonly answered: AnsweredAt | null;
  readonly remembered: RememberedForm | null;
}

/** A request without its blocks. */
export interface RequestFrame extends Pick<
  ForeignRequest,
  "protocol" | "model" | "requestMarker" | "mode" | "ownLifetime" | "keepsThinking" | "continues"
> {
  readonly markers: readonly (readonly [block: number, lifetime: Lifetime])[];
  readonly settings: RequestSettings;
}

/**
 * Keys are chained, so the key of one block says which blocks were before it, and a node whose prompt begins alike has them
 * all. Only the last ones are written.
 */
export interface BlocksForm {
  readonly count: number;
  readonly baseCount: number;
  readonly baseKey: ContentHash;
  readonly baseTokens: number;
  readonly last: readonly PackedBlock[];
}

export interface RememberedForm extends Omit<KeptPrefixes, "entries" | "longest"> {
  /** How many blocks of the line it was remembered with. */
  readonly count: number;
  readonly model: string;
  readonly settings: RequestSettings;
  readonly continues: boolean;
  readonly readTokens: number;
  readonly startMs: number;
  /** Null where the provider keeps every prefix: then they follow from the rules. */
  readonly entries: readonly PackedTracked[] | null;
}

export type PackedBlock = readonly [
  hash: ContentHash,
  tier: ForeignBlock["tier"],
  kind: ForeignBlock["kind"],
  role: ForeignBlock["role"],
  ends: 0 | 1,
  mayCarry: 0 | 1,
  tokens: number,
  path: string,
  section: string,
  more?: Pick<ForeignBlock, "label" | "lifetime">,
];

export function packBlock(block: ForeignBlock): PackedBlock {
  const { hash, tier, kind, role, endsMessage, mayCarryMarker, tokens, path, section } = block;
  const { label, lifetime } = block;
  const flags = [endsMessage ? 1 : 0, mayCarryMarker ? 1 : 0] as const;
  const more = { ...(label !== undefined && { label }), ...(lifetime && { lifetime }) };
  const packed = [hash, tier, kind, role, ...flags, tokens, path, section] as const;
  return label === undefined && lifetime === undefined ? packed : [...packed, more];
}

export function unpackBlock(packed: PackedBlock): LooseBlock {
  const [hash, tier, kind, role, ends, mayCarry, tokens, path, section, more = {}] = packed;
  const flags = { endsMessage: ends === 1, mayCarryMarker: mayCarry === 1 };
  return { hash, tier, kind, role, ...flags, tokens, path, section, text: "", ...more };
}
