// Text for one call only: the time and where people are. Every call pays for it again, so it is sent only when it is new.
import { describeMoment } from "../layers/event.ts";
import type { Section } from "../layers/section.ts";
import type { Turn } from "./turn.ts";

/** A long turn sends the time again after this long. */
const againMs = 60_000;

export interface SentMoment {
  readonly sections: readonly Section[];
  /** When a call last sent the time. */
  readonly timeSentMs: number | null;
}

/** Sends the time with the event and then once a minute, unless the layout sends none; sends where people are with every call. */
export function momentOf(
  { event, before }: Pick<Turn, "event" | "before">,
  { nowMs, nowIso }: { readonly nowMs: number; readonly nowIso: string },
): SentMoment {
  const { timeSentMs, moment, startIso } = event;
  const { role } = before;
  if (moment === null) return { sections: [], timeSentMs };
  const { layout } = before.policy;
  const clock = (iso: string): { readonly iso: string } | null =>
    layout.volatileText === "memory" ? null : { iso };
  const first = describeMoment(moment, role, clock(startIso));
  // This text stands before the messages: a change would invalidate the cached prefix of all of them.
  if (layout.volatile === "system-tail") return { sections: withText(first), timeSentMs };
  if (timeSentMs === null) return { sections: withText(first), timeSentMs: nowMs };
  const isNews = nowMs - timeSentMs >= againMs;
  const later = { ...moment, hookData: [] };
  const section = describeMoment(later, role, isNews ? clock(nowIso) : null);
  return { sections: withText(section), timeSentMs: isNews ? nowMs : timeSentMs };
}

function withText(section: Section): readonly Section[] {
  return section.text === "" ? [] : [section];
}
