// Commits of 8 KB that wait for the disk, compared with the minimum: write 8 KB to a file, fdatasync.
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createText, sampleCall, sampleSession, say } from "../../harness/ledger-turns.ts";
import { createRandom } from "../../harness/random-message.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { compareRounds, type Compared } from "./rounds.ts";

const commitsPerRound = 50;
const rounds = 24;
const warmups = 2;

export async function compareWithFile(folder: string): Promise<Compared> {
  const random = createRandom(3);
  const texts = Array.from({ length: commitsPerRound }, () => createText(random, 8192));
  const buffers = texts.map((text) => Buffer.from(text));
  const turnId = "turn-1";
  const ledger = await createLedger(openSqlite({ file: join(folder, "durable.db") }));
  await ledger.createSession(sampleSession("measured"));
  const { agent: _agent, id: sessionId, ...like } = sampleSession("measured");
  const turn = await ledger.openTurn({
    ...like,
    id: turnId,
    sessionId,
    parentTurnId: null,
    startMs: 0,
    messages: [],
  });
  const entries = Array.from({ length: (rounds + warmups) * commitsPerRound }, (_, index) => {
    const reply = say("assistant", texts[index % texts.length] ?? "");
    return sampleCall({ turnId, number: index + 1, sent: [], reply });
  });
  const file = openSync(join(folder, "raw"), "a");
  const compared = await compareRounds(
    {
      ledger: async (round) => {
        const start = round * commitsPerRound;
        for (const entry of entries.slice(start, start + commitsPerRound)) await turn.append(entry);
      },
      bare: () => {
        for (const buffer of buffers) {
          writeSync(file, buffer);
          fdatasyncSync(file);
        }
      },
    },
    { rounds, warmups },
  );
  closeSync(file);
  await turn.close({ status: "completed", endMs: 1 });
  await ledger.close();
  const { ledgerMs, bareMs, share } = compared;
  return { ledgerMs: ledgerMs / commitsPerRound, bareMs: bareMs / commitsPerRound, share };
}
