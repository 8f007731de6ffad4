// Resumes a recorded session for work between turns.
import { findPolicy } from "../../core/cache/policies.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { findProtocol, protocols } from "../../core/wire/protocols.ts";
import { loadO200k } from "../../core/tokens/o200k/counter.ts";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import { readRunner } from "../../edge/stores/session-inside.ts";
import type { Session } from "../../core/session/session.ts";
import { findCallSettings } from "../../engine/session/recorded-setup.ts";
import { resumeSession } from "../../engine/session/stored-session.ts";

export interface Resumed {
  readonly session: Session;
  /** The average; 1 without turns. */
  readonly callsPerTurn: number;
}

/** Uses its own model, and the protocol, policy and options of its calls. */
export async function resumeRecorded(
  ledger: Ledger,
  record: SessionRecord,
  catalogue: Catalogue,
): Promise<Resumed> {
  const { id } = record;
  const calls = await findCallSettings(ledger, record);
  if (calls === null) {
    throw new StrataError(
      "input-invalid",
      `session ${id} was recorded without its call options`,
      "compact it with the program that runs it",
    );
  }
  const { facts: model } = resolveModel(calls.model, catalogue);
  const counter = await loadO200k();
  const named = findPolicy(calls.policy);
  const policy = { ...named, layout: calls.layout ?? named.layout };
  const protocol = protocolNamed(calls.protocol);
  const { options } = calls;
  const session = await resumeSession(ledger, id, { model, policy, counter, options, protocol });
  return { session, callsPerTurn: await countCallsPerTurn(ledger, id) };
}

/** Finds the protocol that a session was recorded with. */
function protocolNamed(name: string): Protocol {
  const protocol = findProtocol(name);
  if (protocol !== undefined) return protocol;
  throw new StrataError(
    "input-invalid",
    `the protocol ${name} is not known`,
    `it is none of ${protocols.map((each) => each.name).join(", ")}; use the program that recorded it`,
  );
}

/** Refuses an archived session and one with an open turn. */
export async function refuseBusy(
  { database, ledger }: OpenStore,
  { id, openTurnId, status }: SessionRecord,
): Promise<void> {
  if (status === "archived") {
    throw new StrataError(
      "conflict",
      `session ${id} is archived`,
      `bring it back first: strata sessions activate ${id}`,
    );
  }
  const turn = openTurnId === null ? null : await ledger.findTurn(openTurnId);
  if (turn === null) return;
  const runner = await readRunner(database, id);
  const isRun = runner?.isLive === true;
  throw new StrataError(
    "conflict",
    isRun
      ? `turn ${turn.id} of session ${id} is run by ${runner.holder ?? "an unknown process"}`
      : `turn ${turn.id} of session ${id} was left open, and no process runs it`,
    isRun
      ? "wait until it ends; a running session compacts itself when its window is full"
      : `open the session to resume it, or give it up: strata sessions abandon ${id}`,
  );
}

async function countCallsPerTurn(ledger: Ledger, sessionId: string): Promise<number> {
  let [turns, calls] = [0, 0];
  for await (const { type, callCount } of ledger.readTurns({ sessionId })) {
    if (type === "compaction" || callCount === 0) continue;
    turns += 1;
    calls += callCount;
  }
  return turns === 0 ? 1 : calls / turns;
}
