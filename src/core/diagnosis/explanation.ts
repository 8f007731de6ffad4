// The explanation of a call that read less from the cache than it could have.
import { eventCatalogue } from "../events/event-catalogue.ts";
import type { PayloadOf } from "../events/event.ts";
import type { BlockPlace } from "./find-divergence.ts";

/** Why a prefix was not read. */
export type MissCause = PayloadOf<"cache.miss">["cause"] | "no miss";

export const missCauses: readonly MissCause[] = [
  ...eventCatalogue["cache.miss"].payload.cause,
  "no miss",
];

export interface Explanation {
  /** What this request would have read if it had kept the earlier prompt unchanged. */
  readonly expectedReadTokens: number;
  readonly reportedReadTokens: number;
  readonly cause: MissCause;
  /** The detail, such as `tool choice: auto → any`; null if the cause is enough. */
  readonly detail: string | null;
  /** The first block that differs, or the last block that was not read; null for none. */
  readonly block: BlockPlace | null;
  readonly lostTokens: number;
  /** The extra cost of the lost tokens over a cache read; null if the model has no price. */
  readonly lostPicoUsd: bigint | null;
  /** One sentence: what would have avoided it. */
  readonly advice: string;
  readonly detectedBy: readonly Detector[];
}

/** `reads halved`: this call read less than half of what the call before it read. */
export type Detector = "expected more" | "reads halved";

export interface Circumstances {
  readonly gapMs: number;
  readonly minimumTokens: number | null;
  readonly isBestEffort: boolean;
  readonly section: string | null;
  readonly detail: string | null;
}

export function adviseOn(cause: MissCause, about: Circumstances): string {
  const what = about.section ?? "the prompt";
  switch (cause) {
    case "first call":
      return "Nothing was written before, so nothing could be read.";
    case "no miss":
      return "Nothing to do.";
    case "model changed":
      return "Stay on one model within a session, or switch where the history is compacted anyway: caches are kept per model.";
    case "tools changed":
      return `Keep the tool list as it is over a session (here: ${what}); bring in further tools by deferred loading or allow fewer by tool choice.`;
    case "tools reordered":
      return "Send tools in a fixed order, for instance sorted by name.";
    case "system changed":
      return `Freeze ${what} at the start of the session and put what changes behind the last marker.`;
    case "history rewritten":
      return `Append to the history and never edit it (here: ${what}); text that changes belongs behind the last marker.`;
    case "parameter changed":
      if (about.detail?.startsWith("user turn after thinking") === true) {
        return "The model is not shown earlier thinking once the user speaks again: ask the provider to keep it, or mark the last block before it.";
      }
      return `Keep ${about.detail?.split(":")[0] ?? "the settings"} as it is over a session, or change it where the history is compacted anyway.`;
    case "beta header changed":
      return "Send the same beta features from the first call of a session to its last.";
    case "no slot for a marker":
      return `The provider takes no more markers, so ${what} was not kept: give up a marker that keeps less.`;
    case "lifetime expired":
      return `The pause of ${formatGap(about.gapMs)} outlived the entry: use a longer lifetime for the part before it, or repeat the prefix in time.`;
    case "below the minimum":
      return `The marked prefix is shorter than the ${about.minimumTokens ?? "provider's"} tokens that are kept at least: mark a longer one, or pad the system prompt.`;
    case "beyond lookback":
      return "Too many blocks were added since the last entry: leave a marker on the block that was marked before.";
    case "written concurrently":
      return "Wait until the first response begins before sending requests with the same prefix.";
    case "provider lost it":
      return about.isBestEffort
        ? "The provider promises nothing about keeping prefixes; only its own choice lost this one."
        : "Everything was as before and in time: the provider dropped the entry, so nothing on your side caused it.";
    case "changed after the head":
      return "The provider still had the head, so what follows it was sent differently in a way that is not recorded: keep injected text, settings and headers as they are over a session.";
    case "another host":
      return "The host that answered had not seen the latest calls: give every call of a session the same cache key or route, and stay below the rate that spreads it over hosts.";
    case "stored prefix gone":
      return "The provider dropped what it kept under a name before its time: another program may have deleted it, or the key was changed.";
    case "nothing was marked":
      return "Put a marker on the last block that will be sent again: without one nothing is kept.";
  }
}

/** Nothing in the prompt explains it: the provider seems to have lost a prefix. */
export function isBlamedOnProvider({ cause }: Pick<Explanation, "cause">): boolean {
  return cause === "provider lost it" || cause === "changed after the head";
}

/** The same with a cause outside the prompt that explains it better. */
export function renamed(
  found: Explanation,
  cause: "beta header changed" | "another host",
  detail: string,
): Explanation {
  const about = { gapMs: 0, minimumTokens: null, isBestEffort: false, section: null, detail };
  return { ...found, cause, detail, advice: adviseOn(cause, about) };
}

/** If another host answered than the call before, a loss is its doing. Null for a host that is not known. */
export function nameHost(
  found: Explanation,
  before: string | null,
  now: string | null,
): Explanation {
  if (!isBlamedOnProvider(found) || before === null || now === null || before === now) return found;
  return renamed(found, "another host", `${before} → ${now}`);
}

function formatGap(gapMs: number): string {
  const seconds = Math.round(gapMs / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
