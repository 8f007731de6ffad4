// strata ledger sweep: removes old events, except those kept for audits.
import { parseAgeMs } from "../../analytics/time-window.ts";
import { StrataError } from "../../core/strata-error.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { formatTime, printResult } from "./render-ledger.ts";
import { useLedger } from "../use-ledger.ts";

export const run: CommandBody = (input, io) => {
  const text = input.values.get("older-than");
  const beforeMs = Date.now() - parseAge(text);
  return useLedger(input, io, async ({ ledger }) => {
    const removed = await ledger.sweepEvents(beforeMs);
    const left = (await ledger.stats()).rows["events"] ?? 0;
    return printResult(input, io, {
      value: { removed, left, beforeMs },
      text: `Removed ${formatCount(removed, "event")} from before ${formatTime(beforeMs)} UTC; ${formatCount(left, "event")} ${left === 1 ? "is" : "are"} left. Events kept for audits were spared.\n`,
    });
  });
};

/** `90d` and the like, in milliseconds. */
export function parseAge(text: string | undefined): number {
  const ageMs = parseAgeMs(text ?? "");
  if (ageMs > 0) return ageMs;
  throw new StrataError(
    "usage",
    text === undefined
      ? "strata ledger sweep needs --older-than AGE"
      : `--older-than cannot be "${text}"`,
    "write it as 90d, 12w, 48h or 30m; see: strata ledger sweep --help",
  );
}
