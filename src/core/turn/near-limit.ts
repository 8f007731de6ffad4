// Whether an estimate may be on the wrong side of a limit.
import { countsAs } from "../cache/cache-state.ts";
import { settingsOf, type CompactionRules } from "../session/compaction-rules.ts";
import type { Session } from "../session/session.ts";
import { limitsOf } from "./compaction/decide.ts";
import type { PreparedCall } from "./prepare-call.ts";

/** As a rule, estimates of what was not billed yet are off by less than this. */
const errorShare = 0.2;

/** What the last reply billed is known; the rest is estimated. */
export function isNearLimit(
  session: Session,
  prepared: PreparedCall,
  compaction: CompactionRules | undefined,
): boolean {
  const { promptTokens, assembly } = prepared;
  const known = countsAs(session.cache.measured, assembly.blocks)?.tokens ?? 0;
  const margin = errorShare * Math.max(0, promptTokens - known);
  const { thresholdTokens, guardTokens } = limitsOf({ session, prepared, compaction });
  const limits = settingsOf(compaction).isEnabled ? [thresholdTokens, guardTokens] : [guardTokens];
  return limits.some((limit) => Math.abs(limit - promptTokens) <= margin);
}
