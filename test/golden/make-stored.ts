// Makes the files in stored/ with the engine as it is: a session on each protocol with two models, a compaction and a
// turn that was interrupted between two calls. They were made once, before the engine was rewritten, and stay as they are.
//
//   node test/golden/make-stored.ts
import { rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Ledger } from "./kit.ts";
import { asks, look, script } from "./replies.ts";
import { sides, type Side } from "./sides.ts";
import { openStage } from "./stage.ts";
import { storedFile, storedSession } from "./stored-session.ts";
import { textOf } from "./world.ts";

const talk = script(
  ...[1, 2, 3, 4].map((number) => ({ text: `Step ${number} is done.` })),
  asks("Looking.", look("a.ts")),
  { text: "a.ts is fine." },
  asks("Looking again.", look("b.ts"), look("c.ts", { after: "b.ts" })),
);

async function store(side: Side): Promise<void> {
  const stage = await openStage(side, { answer: talk() });
  const process = await stage.start({ windowTokens: 20_000 });
  const session = await process.engine.open({ id: storedSession });
  for (let step = 1; step <= 4; step += 1) {
    await stage.pass(20_000);
    await process.say(session, `Step ${step}: look at it.\n${textOf(`module-${step}.ts`, 70)}`);
  }
  const { kind } = await session.compact();
  if (kind !== "compacted") throw new Error("nothing was compacted");
  await process.say(session, "And a.ts?", { model: side.otherModel });
  const hangs = stage.hangAt(9);
  void process.watch(session.run("And the others?", { id: stage.nextTurnId() }));
  await hangs;
  await process.events.flush();
  await writeExport(process.ledger, side);
  copyDatabase(stage.file, storedFile(`${side.name}.sqlite`));
  await stage.close();
}

async function writeExport(ledger: Ledger, side: Side): Promise<void> {
  const lines: string[] = [];
  for await (const line of ledger.exportSession(storedSession)) lines.push(line);
  writeFileSync(storedFile(`${side.name}.export.jsonl`), `${lines.join("\n")}\n`);
}

function copyDatabase(file: string, target: URL): void {
  rmSync(target, { force: true });
  const database = new DatabaseSync(file);
  // Most tables are nearly empty: small pages keep the file small.
  database.exec("PRAGMA page_size = 1024");
  database.prepare("VACUUM INTO ?").run(fileURLToPath(target));
  database.close();
}

for (const side of sides) await store(side);
