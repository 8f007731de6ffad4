// Reading a thread of 1,000 turns: a ledger compared with its own queries and JSON.parse.
import { join } from "node:path";
import { loadSessions } from "../../harness/ledger-load.ts";
import { createSampleTurn } from "../../harness/ledger-turns.ts";
import type { PostgresServer } from "../../harness/postgres.ts";
import { createRandom } from "../../harness/random-message.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openPostgres } from "../../src/edge/stores/postgres/open-postgres.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { openBarePostgres, recordSent } from "./bare-postgres.ts";
import { openBareSqlite, recordStatements } from "./bare-sqlite.ts";
import { compareRounds, type Compared } from "./rounds.ts";

const turnCount = 1000;
const rounds = 31;

export async function compareReading(folder: string): Promise<Compared> {
  const file = join(folder, "read.db");
  const loading = openSqlite({ file, synchronous: "NORMAL" });
  const setUp = await createLedger(loading);
  const sessionId = await load(loading);
  await setUp.close();

  const recording = openSqlite({ file });
  const taken = recordStatements(recording.connection);
  const recorded = await createLedger(recording);
  taken();
  const messages = await countMessages(recorded, sessionId);
  const bare = openBareSqlite(file, [], "FULL");
  const readBare = bare.prepareReading(taken());
  await recorded.close();

  const ledger = await createLedger(openSqlite({ file }));
  const compared = await compareRounds(
    {
      ledger: () => countMessages(ledger, sessionId),
      bare: () => expectSame(readBare(), messages),
    },
    { rounds, warmups: 5 },
  );
  await ledger.close();
  await bare.close();
  return compared;
}

export async function compareReadingPostgres(server: PostgresServer): Promise<Compared> {
  const url = await server.createDatabase();
  const recording = recordSent(await openPostgres({ url }));
  const ledger = await createLedger(recording.database);
  const sessionId = await load(recording.database);
  await recording.database.query("ANALYZE");
  recording.taken();
  const messages = await countMessages(ledger, sessionId);
  const sent = recording.taken();
  const bare = await openBarePostgres(url);
  const compared = await compareRounds(
    {
      ledger: () => countMessages(ledger, sessionId),
      bare: async () => expectSame(await bare.read(sent), messages),
    },
    { rounds, warmups: 5 },
  );
  await bare.close();
  await ledger.close();
  return compared;
}

async function load(database: Parameters<typeof loadSessions>[0]): Promise<string> {
  const random = createRandom(2);
  const samples = Array.from({ length: 100 }, () => createSampleTurn(random, 8192));
  const [session] = await loadSessions(database, {
    sessions: 1,
    turnsPerSession: turnCount,
    samples,
  });
  return session?.id ?? "";
}

async function countMessages(ledger: Ledger, sessionId: string): Promise<number> {
  let messages = 0;
  for await (const { index } of ledger.readThread({ sessionId })) messages += index >= 0 ? 1 : 0;
  return messages;
}

function expectSame(found: number, expected: number): void {
  if (found !== expected || found === 0) throw new Error(`${found} messages, not ${expected}`);
}
