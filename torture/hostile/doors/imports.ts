// Exports of sessions that others wrote, imported into SQLite; what was taken is listed, read and exported again.
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { analyses } from "../../../src/analytics/analyses.ts";
import { askLedger } from "../../../src/analytics/ask-ledger.ts";
import { builtInCatalogue } from "../../../src/core/models/catalogue.ts";
import { createRandom, type Random } from "../../../harness/random-message.ts";
import {
  createSampleTurn,
  createShortTurn,
  prepareTurn,
  recordTurn,
  sampleSession,
} from "../../../harness/ledger-turns.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { makeStore, type OpenStore } from "../../../src/edge/stores/open-store.ts";
import { collect } from "../../../src/replay/readers/test-kit.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import { count, keysIn, mutateJson, mutateText, oddText, pick, type Json } from "../mutate.ts";

export async function open(folder: string): Promise<OpenDoor> {
  const [empty, file] = [join(folder, "empty.db"), join(folder, "ledger.db")];
  const lines = await sampleExport(empty);
  const values: readonly Json[] = lines.map((line) => JSON.parse(line));
  const known = keysIn(values);
  let store: OpenStore | null = null;
  return {
    // Imports of one block meet each other.
    reset: async () => {
      await store?.ledger.close();
      for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
      copyFileSync(empty, file);
      store = await makeStore(file);
    },
    attempt: (random) => {
      if (store === null) throw new Error("the door was not reset");
      return importAndList(random, store, makeExport(random, values, known));
    },
    close: () => store?.ledger.close(),
  };
}

/** Two turns with a tool use, a compaction-free session, as `strata sessions export` writes it. Leaves an empty ledger. */
async function sampleExport(file: string): Promise<readonly string[]> {
  const { ledger } = await makeStore(file);
  const random = createRandom(1);
  await ledger.createSession({ ...sampleSession("s1"), workspacePath: "/srv/project" });
  await recordTurn(ledger, prepareTurn("t1", createSampleTurn(random, 400)), after(null));
  await recordTurn(ledger, prepareTurn("t2", createShortTurn(random, 80)), after("t1"));
  const lines = await collect(ledger.exportSession("s1"));
  await ledger.deleteSession("s1");
  await ledger.close();
  return lines;
}

function after(parentTurnId: string | null): { sessionId: string; parentTurnId: string | null } {
  return { sessionId: "s1", parentTurnId };
}

/** One or two changes in an export whose names no import before it has. */
function makeExport(
  random: Random,
  values: readonly Json[],
  known: readonly string[],
): readonly string[] {
  const own = Math.floor(random() * 1e9).toString(36);
  const rename = (line: string): string =>
    random() < 0.002 ? line : line.replaceAll(/"(s1|t1|t2)"/g, `"$1-${own}"`);
  let lines: (readonly string[])[] = values.map((value) => [rename(JSON.stringify(value))]);
  for (let left = count(random, 2); left > 0; left -= 1) {
    const at = Math.floor(random() * lines.length);
    lines = lines.with(
      at,
      changeLine(random, lines[at]?.[0] ?? "", lines.at(-at)?.[0] ?? "", known),
    );
  }
  return lines.flat();
}

function changeLine(
  random: Random,
  line: string,
  other: string,
  known: readonly string[],
): readonly string[] {
  const kind = random();
  if (kind < 0.1) return [];
  if (kind < 0.15) return [line, line];
  if (kind < 0.2) return [other, line];
  if (kind < 0.3) return [mutateText(random, line)];
  if (kind < 0.4)
    return [line.replaceAll(/"[st]\d-/g, `"${JSON.stringify(oddText(random)).slice(1, -1)}`)];
  const value = parsed(line);
  return [value === undefined ? mutateText(random, line) : mutateJson(random, value, known)];
}

/** Undefined for a line that was broken before. */
function parsed(line: string): Json | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Whatever was imported, all sessions can still be listed. */
async function importAndList(
  random: Random,
  store: OpenStore,
  lines: readonly string[],
): Promise<Outcome> {
  const before = (await store.ledger.listSessions()).length;
  const outcome = await importAndRead(random, store, lines).catch((error: unknown) => error);
  const left = (await store.ledger.listSessions()).length;
  if (left < before) throw new Error("a session is missing");
  toJson(await store.ledger.stats());
  if (outcome instanceof Error) throw outcome;
  return outcome as Outcome;
}

async function importAndRead(
  random: Random,
  store: OpenStore,
  lines: readonly string[],
): Promise<Outcome> {
  const { ledger, database } = store;
  const own = `n${Math.floor(random() * 1e9)}`;
  const as = pick(random, [undefined, own, own, oddText(random)]);
  const { id } = await ledger.importSession(iterate(lines), {
    ...(as !== undefined && { as }),
    isTrusted: true,
  });
  const outputs = await readAll(ledger, id);
  const world = { nowMs: Date.UTC(2027, 2, 1), catalogue: builtInCatalogue };
  const answer = await askLedger(database, pick(random, Object.values(analyses)), {}, world);
  return { isAccepted: true, outputs: [...outputs, toJson(answer)] };
}

async function readAll(ledger: Ledger, sessionId: string): Promise<readonly string[]> {
  const turns = await collect(ledger.readTurns({ sessionId }));
  for (const { id } of turns) {
    await ledger.readCalls(id);
    await ledger.readToolCalls(id);
    await ledger.readMessages(id);
  }
  await collect(ledger.readThread({ sessionId }));
  await ledger.findUnfinished(sessionId);
  const problems = await collect(ledger.check());
  await collect(ledger.exportSession(sessionId));
  return problems;
}

async function* iterate(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
}
