// Goal: whatever is changed inside the engine, what it sends, tells and stores stays as it was. Method: scenarios on the
// simulator, through what users import; everything that can be seen is compared with records made before the change.
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { allScenarios } from "./all-scenarios.ts";
import { dumpSchema } from "./dump-ledger.ts";
import { compareWithRecord, recordsFolder, toRecord } from "./record.ts";
import { briefly } from "./replies.ts";
import { sides } from "./sides.ts";
import { openStage } from "./stage.ts";
import { storedCases } from "./stored-session.ts";

const cases = Object.entries(allScenarios).flatMap(([name, scenario]) =>
  sides
    .filter((side) => scenario.on?.includes(side.name) ?? true)
    .map((side) => ({ name, scenario, side, record: `${name}.${side.name}` })),
);

test.each(cases)(
  "what $name sends, tells and stores on $side.name is as recorded",
  async ({ scenario, side, record }) => {
    const stage = await openStage(side, {
      answer: scenario.answer(),
      ...(scenario.summary === undefined ? {} : { summary: scenario.summary() }),
    });
    try {
      await scenario.play(stage);
      expect(compareWithRecord(record, toRecord(stage))).toEqual([]);
    } finally {
      await stage.close();
    }
  },
);

test.each(sides.slice(0, 1))("the tables of a ledger are as recorded", async (side) => {
  const stage = await openStage(side, { answer: briefly() });
  try {
    await (await stage.start()).end();
    expect(compareWithRecord("schema", { schema: dumpSchema(stage.file) })).toEqual([]);
  } finally {
    await stage.close();
  }
});

test("every record is of a scenario, and every scenario has one", () => {
  const records = [...cases, ...storedCases, { record: "schema" }];
  const known = records.map(({ record }) => `${record}.json`);
  expect(readdirSync(recordsFolder).toSorted()).toEqual(known.toSorted());
});
