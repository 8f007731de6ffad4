// Where a session's latest call asked the provider to keep the prompt, and why: the markers of its plan, and the account that led.
import type { CachePlan, PlannedMarker } from "../../core/cache/cache-plan.ts";
import type { CallRecord } from "../../core/ledger/call-entry.ts";
import { toPrintable } from "../ledger/render-ledger.ts";
import { renderTable, type Column } from "../table.ts";

/** The latest call of a session, without what is not about its cache. */
export type LatestCall = Pick<CallRecord, "turnId" | "number" | "policy" | "plan">;

/** Empty where the plan says nothing: no marker was placed or dropped, and no account was kept. */
export function renderPlan({ turnId, number, policy, plan }: LatestCall): string {
  const rest = [...requestLine(plan), ...accountLine(plan), ...droppedLines(plan)];
  if (plan.markers.length === 0 && rest.length === 0) return "";
  const about = `Cache markers of the latest call (${toPrintable(turnId)}, call ${number}, ${policy}):\n`;
  const table = plan.markers.length === 0 ? "none\n" : renderTable(markerColumns, plan.markers);
  return `${about}${table}${rest.map((line) => `${line}\n`).join("")}`;
}

const markerColumns: readonly Column<PlannedMarker>[] = [
  { title: "marker", cell: ({ slot }) => slot },
  { title: "kept", cell: ({ lifetime }) => lifetime },
  { title: "block", align: "right", cell: ({ block }) => String(block) },
  { title: "why", cell: ({ reason }) => toPrintable(reason) },
];

function requestLine({ requestMarker }: CachePlan): readonly string[] {
  return requestMarker === null ? [] : [`one marker for the whole request, ${requestMarker}`];
}

function accountLine({ account }: CachePlan): readonly string[] {
  return account === undefined ? [] : [`account before it: ${toPrintable(account.reason)}`];
}

function droppedLines({ dropped }: CachePlan): readonly string[] {
  return dropped.map(
    ({ slot, lifetime, block, reason }) =>
      `left out: ${slot}, ${lifetime}, block ${block}: ${reason}`,
  );
}
