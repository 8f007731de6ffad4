// Goal: sessions that were stored before a change are gone on with as they would have been. Method: files that the engine
// made once, with an open turn, a compaction and two models, are resumed; what is sent and planned next is on record.
import { copyFileSync, createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { dumpLedger } from "./dump-ledger.ts";
import type { Ledger } from "./kit.ts";
import { createNames, startMs } from "./normalise.ts";
import { compareWithRecord, toEvent, toldIn, toRequests } from "./record.ts";
import { asks, look, script } from "./replies.ts";
import type { Side } from "./sides.ts";
import { openStage, type Stage } from "./stage.ts";
import { storedCases, storedFile, storedSession } from "./stored-session.ts";

/** Later than every lease in the files. */
const resumedMs = startMs + 600_000;

const talk = script(
  { text: "b.ts and c.ts are fine." },
  asks("Looking.", look("d.ts")),
  { text: "So is d.ts." },
  { text: "You are welcome." },
);

test.each(storedCases)(
  "a session from a file of $kind on $side.name is resumed with the bytes and the plan on record",
  async ({ kind, side, record }) => {
    const stage = await openStage(side, { answer: talk(), fromMs: resumedMs });
    try {
      if (kind === "sqlite") copyFileSync(storedFile(`${side.name}.sqlite`), stage.file);
      const process = await stage.start({ windowTokens: 20_000 });
      if (kind === "export") await importInto(process.ledger, side);
      const session = await process.engine.resume(storedSession);
      await process.watch(session.resume());
      await process.say(session, "And d.ts?", { id: "next turn", model: side.otherModel });
      await process.say(session, "Thank you.", { id: "last turn" });
      const problems: string[] = [];
      for await (const problem of process.ledger.check()) problems.push(problem);
      await process.end();
      expect(problems).toEqual([]);
      expect(compareWithRecord(record, toStoredRecord(stage))).toEqual([]);
    } finally {
      await stage.close();
    }
  },
);

async function importInto(ledger: Ledger, { name }: Side): Promise<void> {
  const file = createReadStream(storedFile(`${name}.export.jsonl`));
  await ledger.importSession(createInterface({ input: file }), { isTrusted: true });
}

/** What was sent since, and every call with its plan. */
function toStoredRecord(stage: Stage): object {
  const names = createNames();
  const { calls, sessions } = dumpLedger(stage.file, names, new Map());
  return {
    requests: toRequests(stage.seen, names),
    parts: names.inValue(stage.parts),
    results: names.inValue(stage.results),
    events: toldIn(stage).map((event) => toEvent(event, names)),
    calls,
    sessions,
  };
}
