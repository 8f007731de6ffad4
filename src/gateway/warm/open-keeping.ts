// Calls of the gateway's own that keep caches warm, within a budget that all gateways of a ledger share.
import { assert } from "../../core/assert.ts";
import type { WarmingCost } from "../../core/ledger/gateway-call.ts";
import { formatUsd } from "../../core/models/pico-usd.ts";
import type { Keeping } from "../optimize/keep-conversations.ts";
import type { OptimizeSettings } from "../optimize/may-mark.ts";
import type { Recorder } from "../record/open-recorder.ts";
import { createWarmKeeper, type WarmCounts, type WarmKeeperOptions } from "./warm-keeper.ts";

/** Null if no calls of our own are wanted. */
export function openKeeping(
  optimize: OptimizeSettings | null,
  recorder: Pick<Recorder, "askStates">,
  reports: Pick<WarmKeeperOptions, "onWarmed" | "onFault">,
): Keeping | null {
  if (optimize === null || optimize.keepWarm.usdPerHour === null) return null;
  const { usdPerHour, logins } = optimize.keepWarm;
  const settings = { usdPerHour, logins };
  const listWarming = async (sinceMs: number): Promise<readonly WarmingCost[]> => {
    const answer = await recorder.askStates({ do: "list warming", sinceMs });
    assert(answer.done === "list warming", "the ledger answers what it was asked");
    return answer.calls;
  };
  const keeper = createWarmKeeper({ settings, nowMs: Date.now, listWarming, ...reports });
  return { settings, keeper };
}

/** For the health route: JSON has no such numbers. */
export function warmHealth({
  spentPicoUsd,
  ...counts
}: WarmCounts): Readonly<Record<string, unknown>> {
  return { ...counts, spentUsd: formatUsd(spentPicoUsd) };
}
