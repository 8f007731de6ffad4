// Asks the provider for an exact prompt count, if the count can change a decision.
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Session } from "../../core/session/session.ts";
import type { PreparedCall } from "../../core/turn/prepare-call.ts";
import type { Turn } from "../../core/turn/turn.ts";
import type { Counter } from "../../edge/counters/counter.ts";

export type PromptCounter = Pick<Counter, "count" | "noteBill">;

export interface CountDeps {
  readonly counter?: PromptCounter;
  readonly signal?: AbortSignal;
}

export async function countPrompt(
  session: Session,
  { assembly, plan, promptTokens }: PreparedCall,
  { counter, signal }: CountDeps,
): Promise<number> {
  if (counter === undefined) return promptTokens;
  const { protocol, model, options } = session;
  const { tokens } = await counter.count({
    request: protocol.encode({ assembly, plan, model, options }),
    estimatedTokens: promptTokens,
    labels: labelsOf(session),
    ...(signal === undefined ? {} : { signal }),
  });
  return tokens;
}

/** Reports to the counter what a counted prompt was billed. */
export function noteBill(
  { session, at }: Turn,
  { usage }: CallEntry,
  { counter }: CountDeps,
): void {
  const counted = at.after === "send" ? at.sent.call.prepared.countedTokens : undefined;
  if (counted === undefined || usage === null) return;
  counter?.noteBill({ labels: labelsOf(session), countedTokens: counted, usage });
}

export function labelsOf({ agent, model }: Session): {
  readonly agent: string;
  readonly provider: string;
  readonly model: string;
} {
  return { agent, provider: model.provider, model: model.id };
}
