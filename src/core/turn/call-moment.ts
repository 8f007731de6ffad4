// What holds for one call alone. It is paid for with every call that says it, so it is said only when it is news.
import { describeMoment } from "../layers/event.ts";
import type { Section } from "../layers/section.ts";
import type { Turn } from "./turn.ts";

/** A turn that goes on says the time again after this long. */
const againMs = 60_000;

export interface SaidMoment {
  readonly sections: readonly Section[];
  /** When the time was last said. */
  readonly toldMs: number | null;
}

/** The time goes with the event, and then once a minute; where people are goes with every call. */
export function sayMoment(
  { event, before }: Pick<Turn, "event" | "before">,
  { nowMs, nowIso }: { readonly nowMs: number; readonly nowIso: string },
): SaidMoment {
  const { toldMs, moment, startIso } = event;
  const { role } = before;
  if (moment === null) return { sections: [], toldMs };
  const first = (): Section => describeMoment(moment, role, { iso: startIso });
  // Before the messages, another text would be another prefix for all of them.
  if (before.policy.layout.volatile === "system-tail") {
    return { sections: [first()], toldMs };
  }
  if (toldMs === null) return { sections: [first()], toldMs: nowMs };
  const isNews = nowMs - toldMs >= againMs;
  const later = { ...moment, hookData: [] };
  const section = describeMoment(later, role, isNews ? { iso: nowIso } : null);
  return { sections: section.text === "" ? [] : [section], toldMs: isNews ? nowMs : toldMs };
}
