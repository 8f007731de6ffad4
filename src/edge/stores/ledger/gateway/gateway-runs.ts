// The processes that record calls: each marks its beginning, says now and then that it goes on, and marks its end.
import type { GatewayRun, OpenGatewayRun } from "../../../../core/ledger/gateway-call.ts";
import type { Commit } from "../../sql/database.ts";
import { integer, integerOrNull, oneOf, text } from "../../sql/read-row.ts";
import { selected } from "../../sql/tables.ts";
import type { ResultRow } from "../../sql/database.ts";
import { isHolderGone } from "../lease-holder.ts";
import { mayRepeat, type Store } from "../store.ts";

/** A run on another machine that was silent for so long is dead. A living one beats at least every half minute. */
const silentMsMax = 300_000;

export async function openGatewayRun(store: Store, continues?: string): Promise<OpenGatewayRun> {
  const { database, now } = store;
  const id = continues ?? store.newMessageId();
  const nowMs = now();
  const row = { id, holder: store.newHolder(), ending: "running", begun_ms: nowMs, beat_ms: nowMs };
  await database.commit({
    guards: [],
    writes: [
      {
        into: "gateway_runs",
        rows: [{ ...row, finished_ms: null, lost_count: 0 }],
        orIgnore: true,
      },
    ],
    landed: mayRepeat,
  });
  return {
    id,
    beat: async (lostCount) => {
      await database.commit(marking("beat_ms = ?, lost_count = ?", [now(), lostCount], id));
      return findKilled(store, id);
    },
    end: async (lostCount) => {
      const set = "beat_ms = ?, finished_ms = ?, ending = 'closed', lost_count = ?";
      await database.commit(marking(set, [now(), now(), lostCount], id));
    },
  };
}

function marking(set: string, values: readonly number[], id: string): Commit {
  const sql = `UPDATE gateway_runs SET ${set} WHERE id = ?`;
  return { guards: [], writes: [{ sql, values: [...values, id] }], landed: mayRepeat };
}

/** Marks runs whose process is gone. Of several gateways that look at once, one returns each. */
async function findKilled(store: Store, ownId: string): Promise<readonly GatewayRun[]> {
  const { database, now } = store;
  const rows = await database.query(
    `SELECT ${selected("gateway_runs")} FROM gateway_runs WHERE ending = 'running' AND id <> ? ORDER BY id`,
    [ownId],
  );
  const killed: GatewayRun[] = [];
  for (const row of rows) {
    const isSilent = integer(row, "beat_ms") < now() - silentMsMax;
    if (!isSilent && !isHolderGone(text(row, "holder"))) continue;
    const id = text(row, "id");
    const nowMs = now();
    const result = await database.commit({
      guards: [
        {
          name: "run",
          sql: "UPDATE gateway_runs SET ending = 'killed', finished_ms = ? WHERE id = ? AND ending = 'running'",
          values: [nowMs, id],
        },
      ],
      writes: [],
      landed: mayRepeat,
    });
    if (result.kind !== "done") continue;
    killed.push({ ...toRun(row), ending: "killed", endedMs: nowMs });
  }
  return killed;
}

/** The latest first. */
export async function readGatewayRuns(
  { database }: Store,
  limit = 50,
): Promise<readonly GatewayRun[]> {
  const rows = await database.query(
    `SELECT ${selected("gateway_runs")} FROM gateway_runs ORDER BY id DESC LIMIT ?`,
    [limit],
  );
  return rows.map(toRun);
}

const endings = ["running", "closed", "killed"] as const;

function toRun(row: ResultRow): GatewayRun {
  return {
    id: text(row, "id"),
    startedMs: integer(row, "begun_ms"),
    beatMs: integer(row, "beat_ms"),
    endedMs: integerOrNull(row, "finished_ms"),
    ending: oneOf(row, "ending", endings),
    lostCount: integer(row, "lost_count"),
  };
}
