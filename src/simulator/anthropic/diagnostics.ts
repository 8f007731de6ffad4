// Says why a prompt could not be reused, by comparing it with the prompt of an earlier message.
import { hashText } from "../ids.ts";
import type { MessagesRequest } from "./request/read-request.ts";
import type { RenderedPrompt } from "./render/render-prompt.ts";
import type { PromptUnit } from "./render/render-units.ts";
import { settingsOf } from "./settings.ts";

export type CacheMissReason =
  | {
      readonly type: `${PromptUnit["origin"] | "model"}_changed`;
      readonly cache_missed_input_tokens: number;
    }
  | { readonly type: "previous_message_not_found" | "unavailable" };

/** In the reply: absent, null for no difference, or the earliest difference. */
export type Diagnostics = { readonly cache_miss_reason: CacheMissReason } | null | undefined;

export interface PromptMemory {
  /** Compares with the message the client names, then stores this prompt under its own id. */
  diagnose(call: DiagnosedCall): Diagnostics;
}

interface DiagnosedCall {
  readonly workspace: string;
  readonly messageId: string;
  readonly request: MessagesRequest;
  readonly prompt: RenderedPrompt;
}

interface RememberedPrompt {
  readonly model: string;
  /** The other settings that can make a prefix unreadable. */
  readonly settings: string;
  /** One per block: the start of its hash, its tokens, and its origin. */
  readonly hashes: BigUint64Array;
  readonly tokens: Uint32Array;
  readonly origins: Uint8Array;
}

interface MemoryLimits {
  readonly promptsMax: number;
  /** Over all prompts, 13 bytes per block: 13 MB. The latest prompt is kept even if it alone exceeds this. */
  readonly blocksMax: number;
}

const usualLimits: MemoryLimits = { promptsMax: 1000, blocksMax: 1_000_000 };

/** Stores only prompts of clients that ask for diagnostics, the latest ones. */
export function createPromptMemory(limits: MemoryLimits = usualLimits): PromptMemory {
  const { promptsMax, blocksMax } = limits;
  const remembered = new Map<string, RememberedPrompt>();
  let blocks = 0;
  const remember = (key: string, latest: RememberedPrompt): void => {
    remembered.set(key, latest);
    blocks += latest.hashes.length;
    for (const [oldest, { hashes }] of remembered) {
      const isWithin = remembered.size <= promptsMax && blocks <= blocksMax;
      if (isWithin || remembered.size === 1) break;
      remembered.delete(oldest);
      blocks -= hashes.length;
    }
  };
  return {
    diagnose: ({ workspace, messageId, request, prompt }) => {
      const { diagnostics } = request.options;
      if (diagnostics === null) return undefined;
      const now = toRemembered(request, prompt);
      const before = remembered.get(`${workspace}\n${diagnostics.previousMessageId}`);
      remember(`${workspace}\n${messageId}`, now);
      if (diagnostics.previousMessageId === null) return null;
      const reason: CacheMissReason | null =
        before === undefined ? { type: "previous_message_not_found" } : divergence(before, now);
      return reason === null ? null : { cache_miss_reason: reason };
    },
  };
}

function toRemembered(
  request: MessagesRequest,
  { units, blocks }: RenderedPrompt,
): RememberedPrompt {
  const { facts, betas, options } = request;
  const rest = [settingsOf(request), [...betas].toSorted(), options.hasContextManagement];
  return {
    model: facts.id,
    settings: hashText(JSON.stringify(rest)),
    hashes: BigUint64Array.from(units, ({ hash }) =>
      Buffer.from(hash, "base64url").readBigUInt64LE(),
    ),
    tokens: Uint32Array.from(units, (_unit, index) => blocks[index]?.tokens ?? 0),
    origins: Uint8Array.from(units, ({ origin }) => origins.indexOf(origin)),
  };
}

const origins: readonly PromptUnit["origin"][] = ["tools", "system", "messages"];

function divergence(before: RememberedPrompt, now: RememberedPrompt): CacheMissReason | null {
  const missed = (from: number): number =>
    before.tokens.subarray(from).reduce((sum, tokens) => sum + tokens, 0);
  if (before.model !== now.model)
    return { type: "model_changed", cache_missed_input_tokens: missed(0) };
  const at = before.hashes.findIndex((hash, index) => hash !== now.hashes[index]);
  if (at === -1) return before.settings === now.settings ? null : { type: "unavailable" };
  const last = origins.length - 1;
  const origin = origins[Math.min(before.origins[at] ?? last, now.origins[at] ?? last)];
  return { type: `${origin ?? "messages"}_changed`, cache_missed_input_tokens: missed(at) };
}
