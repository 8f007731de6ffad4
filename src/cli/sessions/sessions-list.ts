// strata sessions list: one line per session, the latest changed first.
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { SessionFilter, SessionRecord } from "../../core/ledger/session-record.ts";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import { readRunner } from "../../edge/stores/session-inside.ts";
import { countUnpriced, formatShortCost } from "../format-cost.ts";
import type { CommandBody, CommandInput } from "../command.ts";
import { formatTime, toJsonLine, toPrintable, toShort } from "../ledger/render-ledger.ts";
import { shortNames } from "./name-session.ts";
import { renderTable, type Column } from "../table.ts";
import { findSimulatedBeside, wayTo } from "../../host/ledger/ledger-place.ts";
import { useFoundLedger } from "../use-ledger.ts";
import { wrapLong } from "../window.ts";

interface Listed extends SessionRecord {
  /** The state of the turn that is not closed; null if there is none. */
  readonly openTurn: "running" | "unfinished" | null;
  /** How many calls have no price. */
  readonly unpriced: number;
}

export const run: CommandBody = (input, io) => {
  const filter = readFilter(input);
  const isJson = input.switches.has("json");
  return useFoundLedger(
    input,
    io,
    async (store, place) => {
      // One more than is shown shows whether there are more.
      const found = await store.ledger.listSessions({ ...filter, limit: filter.limit + 1 });
      const shown = await withOpenTurns(store, found.slice(0, filter.limit));
      if (isJson) io.out(toJsonLine(shown));
      else io.out(render(shown, found.length > shown.length));
      const beside = findSimulatedBeside(place);
      if (beside !== null && !isJson) {
        io.error(`Simulated sessions are kept apart: strata sessions ${wayTo(beside, place)}\n`);
      }
      return 0;
    },
    (place) => {
      const { name, origin } = place;
      io.out(
        isJson
          ? "[]\n"
          : wrapLong(
              `There are no sessions: ${name} (from ${origin}) holds no ledger yet. It is made when the first one is recorded.\n`,
            ),
      );
      return 0;
    },
  );
};

const statuses = ["active", "archived", "all"] as const;

function readFilter({ switches, values }: CommandInput): SessionFilter & { limit: number } {
  const given = values.get("status");
  const agent = values.get("agent");
  if (given !== undefined && switches.has("all")) {
    throw usage("--all and --status do not go together", "give one of them");
  }
  const status = switches.has("all")
    ? "all"
    : statuses.find((each) => each === (given ?? "active"));
  if (status === undefined) {
    const hint = didYouMean(given ?? "", statuses, `choose one of ${statuses.join(", ")}`, 1);
    throw usage(`--status cannot be "${given ?? ""}"`, hint);
  }
  return {
    status,
    origin: switches.has("gateway") ? "gateway" : "engine",
    limit: readLimit(values.get("limit") ?? "50"),
    ...(agent === undefined ? {} : { agent }),
  };
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= 1_000_000) return limit;
  throw usage(`--limit is ${text}`, "give a whole number from 1 to 1000000");
}

function usage(message: string, hint: string): StrataError {
  return new StrataError("usage", message, `${hint}; see: strata sessions list --help`);
}

async function withOpenTurns(
  { database, ledger }: OpenStore,
  sessions: readonly SessionRecord[],
): Promise<readonly Listed[]> {
  const listed: Listed[] = [];
  const unpriced = await countUnpriced(ledger, sessions);
  for (const session of sessions) {
    const runner = session.openTurnId === null ? null : await readRunner(database, session.id);
    const openTurn = runner === null ? null : runner.isLive ? "running" : "unfinished";
    listed.push({ ...session, openTurn, unpriced: unpriced.get(session.id) ?? 0 });
  }
  return listed;
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Listed>[] => [
  { title: "session", cell: ({ id }) => toPrintable(names.get(id) ?? id) },
  { title: "agent", cell: ({ agent }) => toShort(agent, 30) },
  { title: "model", cell: ({ model }) => toShort(model, 40) },
  { title: "turns", align: "right", cell: ({ turnCount }) => String(turnCount) },
  {
    title: "cost",
    align: "right",
    cell: ({ costPicoUsd, unpriced }) => formatShortCost(costPicoUsd, unpriced),
  },
  { title: "updated (UTC)", cell: ({ updatedMs }) => formatTime(updatedMs) },
  { title: "state", cell: stateOf },
];

function stateOf({ openTurn, status }: Listed): string {
  if (openTurn !== null) return openTurn === "running" ? "running" : "turn not closed";
  return status === "archived" ? "archived" : "-";
}

function render(sessions: readonly Listed[], hasMore: boolean): string {
  if (sessions.length === 0) return "No session is like that; --all shows archived ones too.\n";
  const more = hasMore
    ? `The ${sessions.length} latest; --limit ${sessions.length * 10} shows more.\n`
    : "";
  return `${renderTable(columnsOf(shortNames(sessions.map(({ id }) => id))), sessions)}${more}`;
}
