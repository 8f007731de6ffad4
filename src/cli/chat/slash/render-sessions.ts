// The latest sessions, each with its first message.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { countUnpriced, formatShortCost } from "../../format-cost.ts";
import { formatTime } from "../../ledger/render-ledger.ts";
import { renderTable } from "../../table.ts";
import { textOf } from "../words/greeting.ts";
import { shortName } from "../session/name-session.ts";
import { toPlainLine } from "../words/plain-text.ts";
import { cutToWidth } from "../words/text-width.ts";

const sessionsShown = 10;

/** The current session has a star. */
export async function renderSessions(ledger: Ledger, currentId: string): Promise<string> {
  const sessions = await ledger.listSessions({ limit: sessionsShown });
  if (sessions.length === 0) return "There are no sessions yet.";
  const unpriced = await countUnpriced(ledger, sessions);
  const beginnings = new Map<string, string>();
  for (const { id } of sessions) beginnings.set(id, await beginningOf(ledger, id));
  return renderTable(
    [
      { title: "", cell: ({ id }) => (id === currentId ? "*" : " ") },
      { title: "session", cell: ({ id }) => cutToWidth(toPlainLine(shortName(id)), 20) },
      { title: "turns", align: "right", cell: ({ turnCount }) => String(turnCount) },
      {
        title: "cost",
        align: "right",
        cell: ({ id, costPicoUsd }) => formatShortCost(costPicoUsd, unpriced.get(id) ?? 0),
      },
      { title: "updated (UTC)", cell: ({ updatedMs }) => formatTime(updatedMs).slice(5) },
      { title: "began with", cell: ({ id }) => beginnings.get(id) ?? "" },
    ],
    sessions,
  );
}

async function beginningOf(ledger: Ledger, sessionId: string): Promise<string> {
  for await (const { id } of ledger.readTurns({ sessionId })) {
    const [first] = await ledger.readMessages(id);
    return first === undefined ? "" : cutToWidth(textOf(first.message), 26);
  }
  return "";
}
