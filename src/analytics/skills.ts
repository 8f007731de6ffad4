// Which skills were loaded, why, and how many tokens they took.
import type { Analysis, Label } from "./analysis.ts";
import {
  countBy,
  eventLabel,
  groupEvents,
  readEvents,
  sessionCount,
  sumField,
  textField,
  type StoredEvent,
} from "./stored-events.ts";
import { toIso } from "./time-window.ts";

export interface SkillFigures {
  readonly load_count: number;
  /** Loads by reason: always, on_demand, auto_suggested. */
  readonly load_reasons: Readonly<Record<string, number>>;
  readonly loaded_tokens: number;
  readonly session_count: number;
  /** Searches; if rows are skills, searches that found the skill. */
  readonly search_count: number;
  readonly last_loaded_at: string | null;
}

export const skills: Analysis<SkillFigures> = {
  summary: "Which skills were loaded or found, why, and how many tokens they took",
  groupBys: ["skill", "source", "session", "day", "none"],
  orders: ["load_count", "loaded_tokens", "search_count", "last_loaded_at"],
  async ask(ledger, question) {
    const events = await readEvents(ledger, question, ["skill.loaded", "skill.search"]);
    const groups = groupEvents(events, (event) => labelsOf(event, question.groupBy));
    const rows = [...groups].map(([label, group]) => {
      const loads = group.filter(({ type }) => type === "skill.loaded");
      const lastMs = loads.reduce((last, { timeMs }) => Math.max(last, timeMs), 0);
      const figures: SkillFigures = {
        load_count: loads.length,
        load_reasons: countBy(loads, (event) => textField(event, "load_reason")),
        loaded_tokens: sumField(loads, "load_size_tokens"),
        session_count: sessionCount(group),
        search_count: group.length - loads.length,
        last_loaded_at: loads.length === 0 ? null : toIso(lastMs),
      };
      return { label, figures };
    });
    return { rows };
  },
};

/** A search counts once for every skill it found. Its event does not name the skills' sources. */
function labelsOf(event: StoredEvent, groupBy: string): readonly Label[] {
  const isSearch = event.type === "skill.search";
  if (groupBy === "source" && isSearch) return [];
  if (groupBy !== "skill") return [eventLabel(event, groupBy)];
  if (!isSearch) return [textField(event, "skill_id")];
  const found = event.payload["result_skill_ids"];
  if (!Array.isArray(found)) return [];
  return [...new Set(found.filter((id): id is string => typeof id === "string"))];
}
