// Why a prompt could not be reused, told by comparing it with the prompt of an earlier message.
import type { BillableBlock } from "../billing/billable-request.ts";
import { digest } from "./digest.ts";
import type { MessagesRequest } from "./read-request.ts";
import type { RenderedPrompt } from "./render-prompt.ts";
import type { PromptUnit } from "./render-units.ts";
import { settingsOf } from "./settings.ts";

export type CacheMissReason =
  | {
      readonly type: `${PromptUnit["origin"] | "model"}_changed`;
      readonly cache_missed_input_tokens: number;
    }
  | { readonly type: "previous_message_not_found" | "unavailable" };

/** What the reply says: nothing, null for no divergence, or the earliest one. */
export type Diagnostics = { readonly cache_miss_reason: CacheMissReason } | null | undefined;

export interface PromptMemory {
  /** Compares with the message the client names, then remembers this one under its own id. */
  diagnose(call: DiagnosedCall): Diagnostics;
}

interface DiagnosedCall {
  readonly workspace: string;
  readonly messageId: string;
  readonly request: MessagesRequest;
  readonly prompt: RenderedPrompt;
}

interface Fingerprint {
  readonly model: string;
  /** Whatever else can make a prefix unreadable. */
  readonly settings: string;
  readonly pieces: readonly (Pick<PromptUnit, "origin" | "hash"> & Pick<BillableBlock, "tokens">)[];
}

/** Only prompts of clients that ask are kept, and of those the latest. */
export function createPromptMemory(promptsMax = 1000): PromptMemory {
  const remembered = new Map<string, Fingerprint>();
  return {
    diagnose: ({ workspace, messageId, request, prompt }) => {
      const { diagnostics } = request.options;
      if (diagnostics === null) return undefined;
      const now = fingerprintOf(request, prompt);
      remembered.set(`${workspace}\n${messageId}`, now);
      for (const key of remembered.keys()) {
        if (remembered.size <= promptsMax) break;
        remembered.delete(key);
      }
      if (diagnostics.previousMessageId === null) return null;
      const before = remembered.get(`${workspace}\n${diagnostics.previousMessageId}`);
      const reason: CacheMissReason | null =
        before === undefined ? { type: "previous_message_not_found" } : divergence(before, now);
      return reason === null ? null : { cache_miss_reason: reason };
    },
  };
}

function fingerprintOf(request: MessagesRequest, { units, blocks }: RenderedPrompt): Fingerprint {
  const { facts, betas, options } = request;
  const rest = [settingsOf(request), [...betas].toSorted(), options.hasContextManagement];
  return {
    model: facts.id,
    settings: digest(JSON.stringify(rest)),
    pieces: units.map(({ origin, hash }, index) => ({
      origin,
      hash,
      tokens: blocks[index]?.tokens ?? 0,
    })),
  };
}

const origins: readonly PromptUnit["origin"][] = ["tools", "system", "messages"];

function divergence(before: Fingerprint, now: Fingerprint): CacheMissReason | null {
  const missed = (from: number): number =>
    before.pieces.slice(from).reduce((sum, { tokens }) => sum + tokens, 0);
  if (before.model !== now.model)
    return { type: "model_changed", cache_missed_input_tokens: missed(0) };
  const at = before.pieces.findIndex(({ hash }, index) => hash !== now.pieces[index]?.hash);
  if (at === -1) return before.settings === now.settings ? null : { type: "unavailable" };
  const ranks = [before.pieces[at], now.pieces[at]].flatMap((piece) =>
    piece === undefined ? [] : [origins.indexOf(piece.origin)],
  );
  const origin = origins[Math.min(...ranks)] ?? "messages";
  return { type: `${origin}_changed`, cache_missed_input_tokens: missed(at) };
}
