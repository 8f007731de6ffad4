import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { listPolicies } from "../../core/cache/policies.ts";
import { StrataError } from "../../core/strata-error.ts";
import { loadO200k } from "../../core/tokens/o200k/counter.ts";
import type { CallDetail } from "../call-detail.ts";
import { findFiles } from "../readers/find-files.ts";
import { readRecordings } from "../readers/read-recordings.ts";
import { createRun } from "../readers/run.ts";
import { replay } from "../replay.ts";
import { createCells, createPricing, type PricedFile, type PricingTask } from "./price-files.ts";
import { startPricingThread } from "./pricing-thread.ts";
import { createMerge, replayFiles } from "./replay-files.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-replay-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asked = { policies: listPolicies(), model: null, groupBy: "session" } as const;
const options = { ...asked, changes: null, excerpts: false };

const said = (second: number, more: object): object => ({
  sessionId: "s1",
  timestamp: `2026-02-01T10:00:0${second}.000Z`,
  isSidechain: false,
  ...more,
});
const user = (id: string, parent: string | null, second: number): object =>
  said(second, {
    uuid: id,
    parentUuid: parent,
    type: "user",
    message: { role: "user", content: `Say ${id}. `.repeat(900) },
  });
const reply = (id: string, parent: string, second: number): object =>
  said(second, {
    uuid: id,
    parentUuid: parent,
    type: "assistant",
    requestId: `req ${id}`,
    message: {
      id,
      role: "assistant",
      model: "claude-opus-4-6",
      content: [{ type: "text", text: id }],
      usage: { input_tokens: 10, cache_creation_input_tokens: 4000, output_tokens: 1 },
    },
  });

/** A session of a client, whose second file copies the replies of the first, among files that cannot be used. */
function writeFiles(): void {
  const first = [user("u1", null, 1), reply("a1", "u1", 2)];
  const second = [...first, user("u2", "a1", 3), reply("a2", "u2", 4)];
  const third = [...second, user("u3", "a2", 5), reply("a3", "u3", 6)];
  mkdirSync(join(folder, "sessions"));
  for (const [name, lines] of Object.entries({ a: first, c: second, d: third })) {
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    writeFileSync(join(folder, "sessions", `${name}.jsonl`), text);
  }
  writeFileSync(join(folder, "sessions", "b.jsonl"), '{"kind":"unknown"}\n{"kind":');
}
writeFiles();
const paths = [join(folder, "sessions"), join(folder, "missing.jsonl")];

async function taskOf(): Promise<PricingTask> {
  return { ...options, found: await findFiles(paths), keepsCalls: true, cells: createCells() };
}

async function sequential(): Promise<{ report: unknown; calls: CallDetail[] }> {
  const calls: CallDetail[] = [];
  const read = readRecordings(paths, { counter: await loadO200k() });
  const report = await replay(read, { ...asked, onCall: (call) => void calls.push(call) });
  return { report, calls };
}

test("the report and its calls are the same on one thread, on two, and where recordings are read as one stream", async () => {
  const expected = await sequential();
  expect(expected.calls).toHaveLength(3);
  for (const jobs of [1, 2]) {
    const calls: CallDetail[] = [];
    const onCall = (call: CallDetail): void => void calls.push(call);
    expect(await replayFiles(paths, { ...options, jobs, onCall })).toEqual(expected.report);
    expect(calls).toEqual(expected.calls);
  }
});

test("a thread prices every file that nothing else takes", async () => {
  const task = await taskOf();
  const priced: PricedFile[] = [];
  await startPricingThread(task, (file) => priced.push(file)).ended;
  expect(priced.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
  const merge = createMerge(task, undefined);
  const results = new Map(priced.map((file) => [file.index, file]));
  while (merge.next() < task.found.length) await merge.add(results);
  expect(merge.report()).toEqual((await sequential()).report);
});

test("a file priced without knowing the files before it is priced again where they say the same", async () => {
  const task = await taskOf();
  const results = new Map<number, PricedFile>();
  for (const index of task.found.keys()) {
    const run = createRun();
    const price = await createPricing(task, run);
    results.set(index, { index, ...(await price(index)), claims: run.takeClaims() });
  }
  const requests = [...results.values()].map(({ sums }) => sums.total.requests);
  expect(requests).toEqual([1, 0, 2, 3, 0]);
  results.delete(1);
  const merge = createMerge(task, undefined);
  while (merge.next() < task.found.length) await merge.add(results);
  expect(merge.report()).toEqual((await sequential()).report);
});

test("an error of a thread is the error of the whole, with its hint", async () => {
  const wrong = replayFiles(paths, { ...options, model: "claude-nothing", jobs: 2 });
  await expect(wrong).rejects.toBeInstanceOf(StrataError);
});

test("progress counts bytes, files and requests up to all of them", async () => {
  const seen: unknown[] = [];
  const onProgress = (done: object, all: object): void => void seen.push({ ...done, all });
  await replayFiles(paths, { ...options, onProgress });
  const found = await findFiles(paths);
  const bytes = found.reduce((sum, each) => sum + (each.type === "file" ? each.bytes : 0), 0);
  expect(seen.at(-1)).toEqual({ bytes, files: 5, requests: 3, all: { bytes, files: 5 } });
});
