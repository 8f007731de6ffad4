// Which model turns ran on, and who decided so.
import { integer } from "../edge/stores/sql/read-row.ts";
import {
  withLabel,
  type Analysis,
  type Found,
  type LedgerMoment,
  type Question,
} from "./analysis.ts";
import { endsOf, keyOf, labelOf } from "./group-keys.ts";
import { countBy, eventLabel, groupEvents, readEvents, textField } from "./stored-events.ts";

export interface RoutingFigures {
  readonly turn_count: number;
  /** Turns that ran on another model than the turn before them. */
  readonly switched_turn_count: number;
  /** Decisions by what decided, from the events `route.decided`; empty where there are none. */
  readonly decided_by: Readonly<Record<string, number>>;
}

export const routing: Analysis<RoutingFigures> = {
  summary: "Which model turns ran on, how often it changed, and who decided so",
  groupBys: ["model", "day", "none"],
  orders: ["turn_count", "switched_turn_count"],
  ask: askRouting,
};

async function askRouting(
  ledger: LedgerMoment,
  question: Question,
): Promise<Found<RoutingFigures>> {
  const key = keyOf(question.groupBy);
  const counted = await ledger.query(
    `SELECT ${key.calls.replaceAll("c.", "t.")} AS grp, COUNT(*) AS turn_count,
      CAST(COALESCE(SUM(CASE WHEN p.model <> t.model THEN 1 ELSE 0 END), 0) AS BIGINT) AS switched
    FROM turns t LEFT JOIN turns p ON p.id = t.parent_turn_id AND p.turn_type = 'normal'
    WHERE t.turn_type = 'normal' AND t.started_ms >= ? AND t.started_ms < ? GROUP BY 1`,
    endsOf(question.window),
  );
  const decided = await readEvents(ledger, question, ["route.decided"]);
  const groups = groupEvents(decided, (event) => [eventLabel(event, question.groupBy)]);
  const rows = counted.map((row) => {
    const label = labelOf(row, key);
    const figures: RoutingFigures = {
      turn_count: integer(row, "turn_count"),
      switched_turn_count: integer(row, "switched"),
      decided_by: countBy(groups.get(label) ?? [], (event) => textField(event, "reason")),
    };
    const { turn_count, switched_turn_count } = figures;
    return {
      label,
      figures: withLabel(question, label, figures),
      ranks: { turn_count, switched_turn_count },
    };
  });
  const notes =
    decided.length > 0 || rows.length === 0
      ? []
      : ["no event route.decided is in this window, so that who chose these models is not known"];
  return { rows, notes };
}
