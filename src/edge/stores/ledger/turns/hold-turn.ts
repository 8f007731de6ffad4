// A running turn. It holds the lease on its session until it is closed or released, or another process takes over.
import type { OpenTurn } from "../../../../core/ledger/ledger.ts";
import type { Statement } from "../../sql/database.ts";
import { compactionInTurn, landedCompaction } from "../compactions/commit-compaction.ts";
import { keepAlive } from "../heartbeat.ts";
import { orGiveUp } from "../lease-holder.ts";
import { commitSharing, conflict, landedRow, type Store } from "../store.ts";
import { answerStep, repeatedAnswers } from "./record-answers.ts";
import { appendStep, repeatedCall } from "./append-call.ts";
import { closeStep, interrupt } from "./close-turn.ts";
import { repeatedSwitch, switchStep } from "./switch-model.ts";
import { leaseGuard, leaseUpdate, type HeldTurn, type TurnWrite } from "./held-turn.ts";

export function holdTurn(store: Store, start: HeldTurn): OpenTurn {
  let held = start;
  let isOver = false;
  let closed: string | null = null;
  const heartbeat = keepAlive(store, () => leaseGuard(store, held));
  const take = async ({ commit, next }: TurnWrite): Promise<void> => {
    if (isOver) throw conflict(`turn ${held.id} is over`, "open another turn");
    const result = await commitSharing(store, commit);
    if (result.kind === "refused") throw refusedBy(result.guard, held);
    if (result.kind === "taken") throw recordedOtherwise(held, result.table);
    held = next;
  };
  const isRecorded = async ({ sql, values }: Statement): Promise<boolean> =>
    (await store.database.query(sql, values)).length > 0;
  return {
    id: start.id,
    sessionId: start.sessionId,
    get parentTurnId() {
      return held.parentTurnId;
    },
    append: async (entry, more = {}) => {
      if (entry.number > held.callCount) await take(appendStep(store, held, entry, more));
      else if (!(await isRecorded(repeatedCall(held, entry))))
        throw recordedOtherwise(held, "calls");
    },
    answer: async (messages, takes) => {
      const repeated = repeatedAnswers(held, messages);
      if (repeated !== null && (await isRecorded(repeated))) return;
      await take(answerStep(store, held, messages, takes));
    },
    compact: async (compaction, lock, events = []) => {
      if (compaction.id === held.parentTurnId && (await isRecorded(landedCompaction(compaction))))
        return;
      await take(await compactionInTurn(store, held, compaction, lock, events));
    },
    switchModel: async (next) => {
      const repeated = repeatedSwitch(held, next);
      if (repeated === null) return take(switchStep(store, held, next));
      if (!(await isRecorded(repeated))) throw recordedOtherwise(held, "turns");
    },
    close: async (how, events = []) => {
      const asked = JSON.stringify(how);
      if (closed === asked) return;
      await take(closeStep(store, held, how, events));
      closed = asked;
      isOver = true;
      heartbeat.stop();
    },
    release: async () => {
      // First of all: a lease that cannot be given back must expire by itself.
      heartbeat.stop();
      await orGiveUp(held.holder, () => take(releaseStep(store, held))).finally(() => {
        isOver = true;
      });
    },
  };
}

const releasing = leaseUpdate("lease_holder = NULL, ");

function releaseStep(store: Store, held: HeldTurn): TurnWrite {
  return {
    commit: {
      guards: [leaseGuard(store, held, releasing)],
      writes: [interrupt(held.id)],
      landed: () => landedRow("turns", { id: held.id, status: "interrupted" }),
    },
    next: held,
  };
}

function recordedOtherwise({ id }: HeldTurn, table: string): Error {
  return conflict(
    `turn ${id} already has a different record in ${table}`,
    "give every turn its own id, and record each call once",
  );
}

function refusedBy(guard: string, { id, sessionId }: HeldTurn): Error {
  return guard === "lock"
    ? conflict(`the lock on compacting session ${sessionId} was lost`, "compact again later")
    : conflict(
        `turn ${id} lost its lease on session ${sessionId}: another process took over, or the turn was abandoned`,
        "continue from the ledger's current state; this write was not stored",
      );
}
