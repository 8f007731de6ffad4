// Which skills were loaded, why, and how many tokens they took.
import { fieldsOf, parseFields, textIn } from "../core/message/fields.ts";
import { skillLoadName } from "../core/skills/recover-activations.ts";
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integerOrNull, text } from "../edge/stores/sql/read-row.ts";
import type { Analysis, Label, LedgerSnapshot, Question } from "./analysis.ts";
import { ratio } from "./figures.ts";
import * as stored from "./stored-events.ts";
import { toIso } from "./time-window.ts";

export interface SkillFigures {
  readonly load_count: number;
  /** Loads by reason: always, on_demand, auto_suggested. */
  readonly load_reasons: Readonly<Record<string, number>>;
  readonly loaded_tokens: number;
  readonly session_count: number;
  /** Searches; if rows are skills, searches that found the skill. */
  readonly search_count: number;
  /** How often a session had the body in its prompt from the start. */
  readonly preload_count: number;
  /** In how many of these the agent asked for the skill itself. */
  readonly asked_preload_count: number;
  /** Asked ÷ preloaded. */
  readonly asked_preload_share: number | null;
  readonly last_loaded_at: string | null;
}

export const skills: Analysis<SkillFigures> = {
  summary: "Which skills were loaded or found, why, and how many tokens they took",
  groupBys: ["skill", "source", "session", "day", "none"],
  orders: ["load_count", "loaded_tokens", "search_count", "last_loaded_at"],
  async ask(ledger, question) {
    const events = await stored.readEvents(ledger, question, ["skill.loaded", "skill.search"]);
    const asked = await readAsked(ledger, question);
    const groups = stored.groupEvents(events, (event) => labelsOf(event, question.groupBy));
    const rows = [...groups].map(([label, group]) => {
      const loads = group.filter(({ type }) => type === "skill.loaded");
      const preloaded = loads.filter(
        (event) => stored.textField(event, "load_reason") === "always",
      );
      const wanted = preloaded.filter((event) =>
        asked.has(pairOf(event.sessionId, stored.textField(event, "skill_id"))),
      );
      const lastMs = loads.reduce((last, { timeMs }) => Math.max(last, timeMs), 0);
      const figures: SkillFigures = {
        load_count: loads.length,
        load_reasons: stored.countBy(loads, (event) => stored.textField(event, "load_reason")),
        loaded_tokens: stored.sumField(loads, "load_size_tokens"),
        session_count: stored.sessionCount(group),
        search_count: group.length - loads.length,
        preload_count: preloaded.length,
        asked_preload_count: wanted.length,
        asked_preload_share: ratio(wanted.length, preloaded.length),
        last_loaded_at: loads.length === 0 ? null : toIso(lastMs),
      };
      return { label, figures };
    });
    return { rows };
  },
};

function pairOf(sessionId: string, skill: string | null): string {
  return JSON.stringify([sessionId, skill]);
}

/** Sessions and the skills that their agents asked for, also for one that was in the prompt already. */
async function readAsked(
  { query }: LedgerSnapshot,
  { window }: Question,
): Promise<ReadonlySet<string>> {
  const rows = await query(
    `SELECT c.session_id, u.position, q.content FROM tool_calls u JOIN turns t ON t.id = u.turn_id
    JOIN calls c ON c.turn_id = u.turn_id AND c.number = u.call_number
    JOIN messages q ON q.branch_id = t.branch_id AND q.turn_seq = t.seq AND q.idx = u.message_idx
    WHERE u.name = ? AND c.started_ms >= ? AND c.started_ms < ?`,
    [skillLoadName, window.startMs, window.endMs],
  );
  return new Set(rows.map((row) => pairOf(text(row, "session_id"), nameIn(row))));
}

/** The skill that a tool use names; null if it names none. */
function nameIn(row: ResultRow): string | null {
  const blocks: unknown = JSON.parse(text(row, "content"));
  const block: unknown = Array.isArray(blocks)
    ? blocks[integerOrNull(row, "position") ?? -1]
    : null;
  const { inputJson } = fieldsOf(block);
  const input = typeof inputJson === "string" ? parseFields(inputJson) : undefined;
  return textIn(input ?? {}, "name") ?? null;
}

/** A search counts once for every skill it found. Its event does not name the skills' sources. */
function labelsOf(event: stored.StoredEvent, groupBy: string): readonly Label[] {
  const isSearch = event.type === "skill.search";
  if (groupBy === "source" && isSearch) return [];
  if (groupBy !== "skill") return [stored.eventLabel(event, groupBy)];
  if (!isSearch) return [stored.textField(event, "skill_id")];
  const found = event.payload["result_skill_ids"];
  if (!Array.isArray(found)) return [];
  return [...new Set(found.filter((id): id is string => typeof id === "string"))];
}
