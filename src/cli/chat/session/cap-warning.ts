// Warns once per session before its spending cap is reached: the call that would pass it is not sent.
import { formatUsdRounded } from "../../../core/models/pico-usd.ts";
import type { Totals } from "../state/state.ts";
import { noticeOf, type Emit } from "../state/update.ts";

/** In hundredths of the cap. */
const warnedAt = 80n;

export function createCapWarning(
  capPicoUsd: () => bigint | null,
  emit: Emit,
): (totals: Pick<Totals, "costPicoUsd">, sessionId: string) => void {
  const warned = new Set<string>();
  return ({ costPicoUsd: spent }, sessionId) => {
    const cap = capPicoUsd();
    if (cap === null || warned.has(sessionId) || spent * 100n < cap * warnedAt) return;
    warned.add(sessionId);
    const share = cap === 0n ? 100 : Number((spent * 100n) / cap);
    const text = `${formatUsdRounded(spent)} of the cap of ${formatUsdRounded(cap)} for this session is spent (${share} %). A call that would pass it is not sent; --cap or spending.session_usd raises it.`;
    emit(noticeOf("warning", text));
  };
}
