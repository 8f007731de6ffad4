// Which models turns ran on, and what decided it.
import { integer } from "../edge/stores/sql/read-row.ts";
import type { Analysis } from "./analysis.ts";
import { turnFacts } from "../edge/stores/rollups/turn-facts.ts";
import { readSums } from "./read-sums.ts";
import { countBy, eventLabel, groupEvents, readEvents, textField } from "./stored-events.ts";

export interface RoutingFigures {
  readonly turn_count: number;
  /** Turns on another model than the turn before. */
  readonly switched_turn_count: number;
  /** Decisions by reason, from the events `route.decided`; empty without such events. */
  readonly decided_by: Readonly<Record<string, number>>;
}

export const routing: Analysis<RoutingFigures> = {
  summary: "Which models turns ran on, how often the model changed, and what decided it",
  groupBys: ["model", "day", "none"],
  orders: ["turn_count", "switched_turn_count"],
  async ask(ledger, question) {
    const turns = await readSums(ledger, question, {
      fact: turnFacts.turns,
      columns: ["total", "switched"],
    });
    const counted = turns.filter(([, row]) => integer(row, "total") > 0);
    const decided = await readEvents(ledger, question, ["route.decided"]);
    const groups = groupEvents(decided, (event) => [eventLabel(event, question.groupBy)]);
    const rows = counted.map(([label, row]) => {
      const figures: RoutingFigures = {
        turn_count: integer(row, "total"),
        switched_turn_count: integer(row, "switched"),
        decided_by: countBy(groups.get(label) ?? [], (event) => textField(event, "reason")),
      };
      return { label, figures };
    });
    const notes =
      decided.length > 0 || rows.length === 0
        ? []
        : ["this window has no event route.decided, so decided_by is empty"];
    return { rows, notes };
  },
};
