// What a ledger gives back of a session that was compacted: its thread, its history, an export and what that imports to.
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import { textOf } from "../world.ts";

export const ledgerReads: Scenarios = {
  "ledger-reads": {
    answer: script(
      asks("Looking at the lighthouse.", look("lighthouse.ts")),
      { text: "The lighthouse is fine." },
      ...[2, 3, 4, 5, 6].map((number) => ({ text: `Step ${number} is done.` })),
    ),
    play: async (stage) => {
      const process = await stage.start({ windowTokens: 20_000 });
      const { ledger, engine, say } = process;
      const session = await engine.open({ id: "golden" });
      for (let turn = 1; turn <= 4; turn += 1) {
        await say(session, `Step ${turn}.\n${textOf(`module-${turn}.ts`, 70)}`);
      }
      await session.compact();
      await say(session, "And now?");
      const sessionId = "golden";
      const text = "lighthouse";
      stage.results.push({
        found: await ledger.searchHistory({ sessionId, text, excerptCharacters: 80 }),
        history: await ledger.readHistory({ sessionId, from: 1, through: 2, charactersMax: 200 }),
        thread: await readAll(ledger.readThread({ sessionId })),
        whole: (await readAll(ledger.readThread({ sessionId }, { whole: true }))).length,
        turns: await readAll(ledger.readTurns({ sessionId })),
        folds: (await ledger.readCompactions(sessionId)).length,
      });
      await process.events.flush();
      const lines = await readAll(ledger.exportSession(sessionId));
      stage.results.push({ exported: lines.map(asRecorded) });
      const other = await stage.start();
      await other.ledger.deleteSession(sessionId);
      await other.ledger.importSession(linesOf(lines), { as: "imported", isTrusted: true });
      stage.results.push({ problems: await readAll(other.ledger.check()) });
      await say(await other.engine.resume("imported"), "Still there?");
      await other.end();
    },
  },
};

/** Tools are timed by the machine's clock. The records are older than the time when a tool began and than tiers of calls. */
function asRecorded(line: string): string {
  if (line.includes('"tool_calls"')) return line.replace(/"started_ms":\d+/, '"started_ms":null');
  if (line.startsWith('{"calls"')) return line.replace(/\\"tiers\\":\[\[.*?\]\],/, "");
  const routing = /(routing_policy_version\\":\\")[^"\\]*/;
  if (line.includes("session.created")) return line.replace(routing, "$1adaptive");
  return line.includes('"type":"tool.') ? line.replace(/latency_ms\\":[\d.e-]+/, "") : line;
}

async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) yield await Promise.resolve(line);
}
