// A prefix that the provider keeps for a session under a name, and whether a call can begin with it.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { PlannedPrefix } from "../cache/cache-plan.ts";
import type { ContentHash } from "../hash.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { CallOptions, Protocol } from "../wire/protocol.ts";
import type { Policy } from "../cache/policy.ts";

export interface HeldPrefix extends PlannedPrefix {
  /** As `Session.modelName`. */
  readonly modelName: string;
  /** The key of its last block: another prompt does not begin with it. */
  readonly key: ContentHash;
  readonly createdMs: number;
  readonly expiresMs: number;
}

/** What of a session decides whether its calls can begin with one. */
export interface PrefixUser {
  readonly model: ModelFacts;
  readonly modelName: string;
  readonly options: CallOptions;
  readonly policy: Policy;
  readonly protocol: Protocol;
  readonly stored?: HeldPrefix;
}

/** A request that arrives later than this may find it expired. */
const safetyMs = 10_000;

/** Null if the call must send its own prefix. */
export function usablePrefix(
  session: PrefixUser,
  blocks: BlockList,
  nowMs: number,
): PlannedPrefix | null {
  const { stored } = session;
  if (stored === undefined || stored.expiresMs <= nowMs + safetyMs) return null;
  if (stored.modelName !== session.modelName || whyNoPrefix(session) !== null) return null;
  if (blocks.at(stored.blocks - 1)?.key !== stored.key) return null;
  const { id, name, blocks: count, tokens } = stored;
  return { id, name, blocks: count, tokens };
}

/** Why calls of a session cannot begin with a stored prefix; null if they can. */
export function whyNoPrefix({
  model,
  options,
  policy,
  protocol,
}: Omit<PrefixUser, "stored" | "modelName">): string | null {
  if (protocol.storing === undefined) return `${protocol.title} stores no prefixes`;
  if (model.cache.stored === null) return `${model.id} stores no prefixes`;
  if (policy.layout.volatile === "system-tail") {
    return "the layout puts text that changes into the system text, which a stored prefix fixes";
  }
  return protocol.storing.findObstacle({ model, options });
}
