// A call as a line for people, and a second one if it read less than it could have.
import { writtenTokens, type Usage } from "../../core/message/usage.ts";
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import type { ObservedCall } from "../observed-call.ts";

export interface LineOptions {
  /** Minutes that the clock on the wall is ahead of UTC at a time; the machine's own by default. */
  readonly minutesAhead?: (ms: number) => number;
}

/** One line, or two lines for a miss. */
export function describeObserved(call: ObservedCall, options: LineOptions = {}): string {
  const { minutesAhead = ownMinutesAhead } = options;
  const { conversation, model, explanation } = call;
  const isPlain = conversation.kind === "conversation" || conversation.kind === "single";
  const kind = isPlain ? "" : ` ${conversation.kind}`;
  const own = call.purpose === undefined ? "" : ` ${purposes[call.purpose]}`;
  const parts = [
    `${clockAt(call.startMs, minutesAhead)} ${plain(conversation.client)}${kind}${own} ${plain(model)}`,
    figuresOf(call),
    costOf(call),
    comparedWith(call),
    call.repairs === undefined ? "" : `repaired: ${call.repairs.join(", ")}`,
    `${((call.endMs - call.startMs) / 1000).toFixed(1)} s`,
  ];
  const line = parts.filter((part) => part !== "").join("  ");
  const missed = explanation === null ? "" : describeMiss(explanation);
  const says = call.diagnosis === undefined ? "" : `; the provider says: ${call.diagnosis.says}`;
  return missed === "" ? line : `${line}\n${missed}${says}`;
}

/** Calls that no client sent. */
const purposes: Readonly<Record<NonNullable<ObservedCall["purpose"]>, string>> = {
  keep_warm: "kept warm",
  prewarm: "written ahead",
};

function figuresOf({ usage, reportsCache, failure, status }: ObservedCall): string {
  const ended =
    status === "complete" ? "" : `${status}${failure === null ? "" : `: ${plain(failure.kind)}`}`;
  if (usage === null) return ended === "" ? "no usage reported" : ended;
  const figures = reportsCache
    ? cacheFigures(usage)
    : `prompt ${short(usage.uncachedTokens)}, cache not reported`;
  return [ended, figures].filter((part) => part !== "").join("  ");
}

function cacheFigures(usage: Usage): string {
  const { cacheReadTokens, uncachedTokens } = usage;
  return `read ${short(cacheReadTokens)} written ${short(writtenTokens(usage))} fresh ${short(uncachedTokens)}`;
}

function costOf({ costPicoUsd, usage, factsId }: ObservedCall): string {
  if (costPicoUsd !== null) return dollars(costPicoUsd);
  if (usage === null) return "";
  return factsId === null ? "model not listed, no price" : "no price";
}

/** Whether it was changed, if that is compared. */
function comparedWith({
  arm,
  policy = "client",
  repairs = [],
  costPicoUsd,
  clientCostPicoUsd = null,
}: ObservedCall): string {
  if (arm === "holdout") return "holdout";
  if (policy === "client" && repairs.length === 0) return "";
  const isOther = clientCostPicoUsd !== null && clientCostPicoUsd !== costPicoUsd;
  return isOther ? `optimised, not ${dollars(clientCostPicoUsd)}` : "optimised";
}

/** What was lost, why, where, and for how much. Empty if nothing was. */
function describeMiss({ cause, lostTokens, block, detail, lostPicoUsd }: Explanation): string {
  if (cause === "no miss" || cause === "first call" || lostTokens === 0) return "";
  const place = block === null ? "" : placeOf(cause, block);
  const why =
    detail === null
      ? (causeWords[cause] ?? cause)
      : `${causeWords[cause] ?? cause} (${plain(detail)})`;
  const lost = lostPicoUsd === null ? "" : `, ${dollars(lostPicoUsd)} lost`;
  return `missed ${short(lostTokens)}: ${why}${place}${lost}`;
}

/** Causes that read better with a subject. */
const causeWords: Partial<Record<Explanation["cause"], string>> = {
  "system changed": "system text changed",
  "provider lost it": "the provider lost it",
};

function placeOf(
  cause: Explanation["cause"],
  { section, byteOffset }: NonNullable<Explanation["block"]>,
): string {
  const name = `\`${plain(section)}\``;
  if (byteOffset !== null) return ` at byte ${grouped(byteOffset)} of ${name}`;
  return isChange(cause) ? ` at ${name}` : ` up to ${name}`;
}

function isChange(cause: Explanation["cause"]): boolean {
  return /changed|reordered|rewritten/.test(cause);
}

/** Three figures are enough at a glance. */
function short(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_950) return `${(tokens / 1000).toFixed(1)}k`;
  return `${(tokens / 1_000_000).toFixed(2)}M`;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function dollars(picoUsd: bigint): string {
  return formatUsdRounded(picoUsd, 4).replace(/(\.\d{3})0$/, "$1");
}

function clockAt(ms: number, minutesAhead: (ms: number) => number): string {
  return new Date(ms + minutesAhead(ms) * 60_000).toISOString().slice(11, 19);
}

function ownMinutesAhead(ms: number): number {
  return -new Date(ms).getTimezoneOffset();
}

/** Names come from requests: nothing in them may move the cursor or hide. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "\u{FFFD}").slice(0, 200);
}
