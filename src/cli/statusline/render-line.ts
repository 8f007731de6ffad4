// The status line: ours first, then what Claude Code says of its cache itself.
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { countIn, fieldsIn, listIn, type Fields } from "../../core/message/fields.ts";
import { formatNumber, formatPercent } from "../../replay/format-figures.ts";
import type { SessionFacts } from "./session-facts.ts";

export function renderLine(facts: SessionFacts | null, given: Fields): string {
  const own = facts === null ? ["Strata saw no call of this session"] : renderFacts(facts);
  const theirs = renderTheirs(fieldsIn(given, "prompt_cache"));
  return [
    own.join(" · "),
    ...(theirs.length === 0 ? [] : [`Claude Code: ${theirs.join(", ")}`]),
  ].join(" | ");
}

function renderFacts({ costPicoUsd, hitRate, warmUntil, miss }: SessionFacts): readonly string[] {
  return [
    `Strata ${formatUsdRounded(costPicoUsd, 4)}`,
    ...(hitRate === null ? [] : [`${formatPercent(hitRate)} read`]),
    warmUntil === null ? "cold" : `warm until ${clockOf(warmUntil)}`,
    ...(miss === null
      ? []
      : [
          `last miss: ${miss.cause}, ${formatNumber(miss.lostTokens)} tokens${miss.lostCostUsd === null ? "" : `, $${shorten(miss.lostCostUsd)}`}`,
        ]),
  ];
}

/** Of `prompt_cache`, since Claude Code 2.1.251. */
function renderTheirs(cache: Fields): readonly string[] {
  const ratio = cache["hit_ratio"];
  const misses = countIn(cache, "misses");
  const causes = listIn(fieldsIn(cache, "last_miss_cause"), "causes").filter(
    (each) => typeof each === "string",
  );
  return [
    ...(typeof ratio === "number" && Number.isFinite(ratio)
      ? [`${formatPercent(ratio)} read`]
      : []),
    ...(misses === undefined || misses === 0
      ? []
      : [`${formatNumber(misses)} missed${causes.length === 0 ? "" : ` (${causes.join(", ")})`}`]),
  ];
}

/** In the time of this machine. */
function clockOf(moment: string): string {
  const date = new Date(moment);
  return [date.getHours(), date.getMinutes()]
    .map((each) => String(each).padStart(2, "0"))
    .join(":");
}

function shorten(usd: string): string {
  return Number(usd).toFixed(4);
}
