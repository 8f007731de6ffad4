// Reads what the next call needs: settings, the time, and text for this call only.
import type { Result, Step } from "../../core/turn/step.ts";
import type { StepDeps } from "./deps.ts";
import type { RunningTurn } from "./running-turn.ts";

export async function refresh(
  step: Extract<Step, { readonly do: "refresh" }>,
  { turn, volatile }: RunningTurn,
  deps: StepDeps,
): Promise<Result> {
  const session = (await deps.refresh?.(turn.session)) ?? turn.session;
  deps.onPhase?.("preparing");
  const nowMs = deps.now();
  const { settings, reserves, summariser } = deps.compaction ?? {};
  return {
    did: "refresh",
    session,
    nowMs,
    nowIso: new Date(nowMs).toISOString(),
    volatile: step.volatile ? await volatile() : null,
    rules: {
      compaction: {
        ...(settings && { settings }),
        ...(reserves && { reserves }),
        ...(summariser && { summariser: { model: summariser.model } }),
      },
      canCount: deps.counter !== undefined,
    },
  };
}
