// strata sessions show: one session with its turns, what is open, and what was said or compacted where that is asked for.
import { readSpelled } from "../../core/assembly/kept-foundation.ts";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { ThreadMessage, TurnRecord } from "../../core/ledger/turn-record.ts";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import { readOwnTurnIds, readRunner } from "../../edge/stores/session-inside.ts";
import type { CommandBody, CommandInput } from "../command.ts";
import { needSession, useFoundLedger } from "../use-ledger.ts";
import { renderCompaction, toCompactionJson } from "../compact/render-compacted.ts";
import { printResult, toJsonLine } from "../ledger/render-ledger.ts";
import { renderConversation, type ShownConversation } from "./render-conversation.ts";
import type { LatestCall } from "./render-plan.ts";
import {
  renderSession,
  type ShownSession,
  type ShownTurn,
  renderMessage,
} from "./render-session.ts";

export const run: CommandBody = (input, io) => {
  const [typed = ""] = input.operands;
  const { switches } = input;
  checkOptions(input);
  return useFoundLedger(input, io, async (store, place) => {
    const session = await needSession(store.ledger, typed, place);
    const { id } = session;
    if (switches.has("system")) {
      io.out(await renderSystem(store, session, switches.has("json")));
      return 0;
    }
    const compactionId = input.values.get("compaction");
    if (compactionId !== undefined) {
      const compaction = await needCompaction(store, id, compactionId);
      return printResult(input, io, {
        value: toCompactionJson(compaction),
        text: renderCompaction(compaction),
      });
    }
    if (session.origin === "gateway") {
      const shown = await readConversation(store, session);
      if (switches.has("json")) io.out(toJsonLine(shown));
      else io.out(renderConversation(shown, switches.has("all")));
      return 0;
    }
    const of = { sessionId: id };
    const thread = store.ledger.readThread(of, { whole: switches.has("whole") });
    if (switches.has("json")) {
      const shown = await readShown(store, session);
      const messages = switches.has("messages") ? { messages: await collect(thread) } : {};
      io.out(toJsonLine({ ...shown, ...messages }));
      return 0;
    }
    if (!switches.has("messages")) {
      io.out(renderSession(await readShown(store, session), switches.has("all")));
      return 0;
    }
    let before: ThreadMessage | null = null;
    for await (const message of thread) {
      io.out(renderMessage(message, before));
      before = message;
    }
    if (before === null) io.out("There is no completed turn with messages yet.\n");
    return 0;
  });
};

/** What every call of the session sends first. For an imported session it comes from the file. */
async function renderSystem(
  { ledger }: OpenStore,
  { id, foundationHash }: SessionRecord,
  asJson: boolean,
): Promise<string> {
  const kept = foundationHash === null ? null : await ledger.readContent(foundationHash);
  if (kept === null) {
    throw new StrataError(
      "not-found",
      `session ${id} has no stored tools and system text`,
      "it was opened by a program that does not record them",
    );
  }
  const blocks = readSpelled(kept);
  return asJson ? toJsonLine({ id, system: blocks }) : blocks.map((block) => `${block}\n`).join("");
}

function checkOptions({ switches, values }: CommandInput): void {
  const other = ["messages", "whole", "all", "system"].find((name) => switches.has(name));
  if (values.has("compaction") && other !== undefined) {
    throw new StrataError(
      "usage",
      `--compaction shows one compaction, and --${other} is about the turns`,
      "give one of them; see: strata sessions show --help",
    );
  }
  if (!switches.has("whole") || switches.has("messages")) return;
  throw new StrataError(
    "usage",
    "--whole needs --messages",
    "add --messages; see: strata sessions show --help",
  );
}

async function needCompaction(
  { ledger }: OpenStore,
  id: string,
  compactionId: string,
): Promise<CompactionRecord> {
  const compactions = await ledger.readCompactions(id, listedMax);
  const found =
    compactionId === "latest"
      ? compactions[0]
      : compactions.find(({ turnId }) => turnId === compactionId);
  if (found !== undefined) return found;
  const known = compactions.map(({ turnId }) => turnId);
  const message = `session ${id} has no compaction${known.length === 0 ? "" : ` ${compactionId}`}`;
  const hint = didYouMean(compactionId, known, `see: strata sessions show ${id}`);
  throw new StrataError("not-found", message, hint);
}

async function readConversation(
  { ledger }: OpenStore,
  session: SessionRecord,
): Promise<ShownConversation> {
  const { id } = session;
  const unpriced = await ledger.readUnpriced([id]);
  return {
    session,
    workers: await readWorkers(ledger, id),
    calls: await ledger.readGatewayCalls(id),
    unpriced: unpriced.reduce((sum, { calls }) => sum + calls, 0),
  };
}

async function readWorkers(ledger: Ledger, id: string): Promise<readonly string[]> {
  const all = { origin: "all", status: "all", limit: listedMax } as const;
  const workers = await ledger.listSessions({ ...all, parentSessionId: id });
  return workers.map((worker) => worker.id);
}

async function readShown(store: OpenStore, session: SessionRecord): Promise<ShownSession> {
  const { ledger, database } = store;
  const { id, openTurnId } = session;
  const runner = openTurnId === null ? null : await readRunner(database, id);
  const turn = openTurnId === null ? null : await ledger.findTurn(openTurnId);
  const unpriced = await ledger.readUnpriced([id]);
  const turns = await readAllTurns(store, id);
  return {
    session,
    workers: await readWorkers(ledger, id),
    open: runner === null || turn === null ? null : { turn, runner },
    unpriced: unpriced.reduce((sum, { calls }) => sum + calls, 0),
    turns: turns.map((each) => ({
      ...each,
      unpriced: unpriced.find(({ turnId }) => turnId === each.id)?.calls ?? 0,
    })),
    compactions: await ledger.readCompactions(id, listedMax),
    latestCall: await readLatestCall(ledger, turns),
  };
}

/** A turn that failed before its first call has none. */
async function readLatestCall(
  ledger: Ledger,
  turns: readonly TurnRecord[],
): Promise<LatestCall | null> {
  for (const { id } of turns.toReversed()) {
    const call = (await ledger.readCalls(id)).at(-1);
    if (call === undefined) continue;
    const { turnId, number, policy, plan } = call;
    return { turnId, number, policy, plan };
  }
  return null;
}

const listedMax = 10_000;

type ThreadTurn = Omit<ShownTurn, "unpriced">;

/** The thread in order; turns outside of it are inserted by start time. */
async function readAllTurns({ ledger, database }: OpenStore, id: string): Promise<ThreadTurn[]> {
  const thread = await collect(ledger.readTurns({ sessionId: id }));
  const inThread = new Set(thread.map((turn) => turn.id));
  const beside: TurnRecord[] = [];
  for (const turnId of await readOwnTurnIds(database, id)) {
    const turn = inThread.has(turnId) ? null : await ledger.findTurn(turnId);
    if (turn !== null) beside.push(turn);
  }
  const merged: ThreadTurn[] = [];
  for (const turn of thread) {
    while (beside[0] !== undefined && beside[0].startMs < turn.startMs) {
      const earlier = beside.shift();
      if (earlier !== undefined) merged.push({ ...earlier, isInThread: false });
    }
    merged.push({ ...turn, isInThread: true });
  }
  return [...merged, ...beside.map((turn) => ({ ...turn, isInThread: false }))];
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
