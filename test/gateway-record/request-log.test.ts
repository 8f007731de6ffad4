// Goal: the request log is what `strata replay` reads, holds no credential, is private, and keeps to its size.
// Method: exchanges as the gateway shows them, a real folder, and the readers of replay.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey, plantedToken } from "../../harness/planted-key.ts";
import type { Recorder } from "../../src/gateway/record/open-recorder.ts";
import { createRedactBody } from "../../src/gateway/record/redact-body.ts";
import { readRecordings } from "../../src/replay/index.ts";
import { charactersCounter } from "../../src/replay/readers/test-kit.ts";
import { all, startMs } from "../ledger/test-kit.ts";
import { newFolder, recorderOn } from "./kit.ts";

const encoder = new TextEncoder();

/** A request of the Messages API with its answer, in two pieces each. */
function exchange(recorder: Recorder, number: number, more: Partial<Exchange> = {}): void {
  const { text = `question ${number}`, answer = usual, encoding, path } = { ...none, ...more };
  const observation = recorder.requests?.begin({
    id: `e${number}`,
    startMs: startMs + number * 1000,
    method: "POST",
    path: path ?? "/v1/messages",
    headers: {
      "content-type": "application/json",
      "anthropic-beta": "files-2026",
      "x-session-id": "s1",
    },
    upstream: "anthropic",
    account: "one",
  });
  const messages = [{ role: "user", content: text }];
  const body = encoder.encode(
    `{"model":"claude-sonnet-5","temperature":1.0,"max_tokens":9, "messages":${JSON.stringify(messages)}}`,
  );
  observation?.requestBody([body.subarray(0, 20), body.subarray(20)]);
  const headers = { "content-type": "text/event-stream", "set-cookie": plantedToken };
  observation?.responseHead(200, {
    ...headers,
    ...(encoding === null ? {} : { "content-encoding": encoding }),
  });
  const bytes = typeof answer === "string" ? encoder.encode(answer) : answer;
  observation?.responseBytes(bytes.subarray(0, 30));
  observation?.responseBytes(bytes.subarray(30));
  observation?.end({
    how: "complete",
    endMs: startMs + number * 1000 + 500,
    firstByteMs: startMs + number * 1000 + 100,
  });
}

interface Exchange {
  readonly text: string;
  readonly answer: string | Uint8Array;
  readonly encoding: string | null;
  readonly path: string;
}

const none: { readonly encoding: string | null; readonly path?: string } = { encoding: null };

const usage = { input_tokens: 12, cache_read_input_tokens: 3000, output_tokens: 1 };
const usual = [
  { type: "message_start", message: { id: "msg_1", model: "claude-sonnet-5", usage } },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 40 } },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).toSorted();
}

function textIn(folder: string): string {
  return filesIn(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

test("what is logged is priced by replay: every call with its bill, also of compressed answers", async () => {
  const folder = join(newFolder(), "log");
  const { recorder } = recorderOn(join(newFolder(), "ledger.db"), { log: { folder } });
  exchange(recorder, 1);
  exchange(recorder, 2, { answer: gzipSync(usual), encoding: "gzip" });
  await recorder.flush();
  expect(recorder.stats().log).toEqual({ writtenCount: 2, leftOutCount: 0 });
  const recorded = await all(readRecordings([folder], { counter: charactersCounter }));
  const bills = recorded.flatMap((each) => (each.type === "request" ? [each.request] : []));
  const bill = { uncachedTokens: 12, cacheReadTokens: 3000, outputTokens: 40 };
  expect(bills).toMatchObject([
    { model: "claude-sonnet-5", startMs: startMs + 1000, endMs: startMs + 1500, usage: bill },
    { model: "claude-sonnet-5", startMs: startMs + 2000, endMs: startMs + 2500, usage: bill },
  ]);
  expect(recorded.filter(({ type }) => type === "skipped")).toEqual([]);
});

test("a line holds the body to the byte, the answer and its times, and no credential", async () => {
  const folder = join(newFolder(), "log");
  const { recorder } = recorderOn(join(newFolder(), "ledger.db"), { log: { folder } });
  exchange(recorder, 1, { path: `/v1/messages?beta=true&key=${plantedToken}` });
  exchange(recorder, 2, { text: `my key is ${plantedKey}\nand "${plantedOpenaiKey}"` });
  await recorder.flush();
  const [first, second] = textIn(folder)
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(first).toEqual({
    time: "2026-11-16T00:00:01.000Z",
    endedAt: "2026-11-16T00:00:01.500Z",
    request: {
      method: "POST",
      url: "/v1/messages?beta=true&key=***",
      headers: {
        "content-type": "application/json",
        "anthropic-beta": "files-2026",
        "x-session-id": "s1",
      },
      body: '{"model":"claude-sonnet-5","temperature":1.0,"max_tokens":9, "messages":[{"role":"user","content":"question 1"}]}',
    },
    response: { status: 200, headers: { "content-type": "text/event-stream" }, body: usual },
  });
  expect(second).toMatchObject({
    request: {
      body: expect.stringContaining('"content":"my key is [redacted]\\nand \\"[redacted]\\""'),
    },
  });
});

test("only its user reads the folder and its files", async () => {
  const folder = join(newFolder(), "log");
  const { recorder } = recorderOn(join(newFolder(), "ledger.db"), { log: { folder } });
  exchange(recorder, 1);
  await recorder.flush();
  const [name = ""] = filesIn(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test("the folder keeps to its size: the oldest files go, and nobody else's", async () => {
  const folder = join(newFolder(), "log");
  mkdirSync(folder);
  writeFileSync(join(folder, "notes.txt"), "mine");
  const log = { folder, folderBytesMax: 20_000 };
  const { recorder } = recorderOn(join(newFolder(), "ledger.db"), { log });
  for (let number = 1; number <= 60; number += 1) exchange(recorder, number);
  await recorder.flush();
  const files = filesIn(folder);
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(20_000);
  expect(bytes).toBeGreaterThan(10_000);
  expect(files).toContain("notes.txt");
  const kept = textIn(folder);
  expect(kept).toContain("question 60");
  expect(kept).not.toContain("question 1\\");
});

test("an answer that unpacks to a thousand times its size fills no folder: its line is cut, and says so", async () => {
  const folder = join(newFolder(), "log");
  const { recorder } = recorderOn(join(newFolder(), "ledger.db"), { log: { folder } });
  exchange(recorder, 1, { answer: gzipSync(" ".repeat(32_000_000)), encoding: "gzip" });
  await recorder.flush();
  expect(recorder.stats().log).toEqual({ writtenCount: 1, leftOutCount: 0 });
  const line = textIn(folder);
  expect(line.length).toBeLessThan(4_000_000);
  expect(line).toMatch(/"body_problem":"the answer is longer than 3\d{6} bytes when unpacked"/);
});

test("nothing is logged unless a folder is named; what cannot be written is told once and counted", async () => {
  const store = join(newFolder(), "ledger.db");
  expect(recorderOn(store).recorder.requests).toBeNull();
  const inTheWay = join(newFolder(), "file");
  writeFileSync(inTheWay, "");
  const { recorder, problems } = recorderOn(store, { log: { folder: join(inTheWay, "log") } });
  exchange(recorder, 1);
  exchange(recorder, 2);
  await recorder.flush();
  expect(recorder.stats().log).toEqual({ writtenCount: 0, leftOutCount: 2 });
  expect(problems).toEqual([expect.stringMatching(/^requests are not logged: .*ENOTDIR/)]);
});

test("a text is spelled anew only where it held a credential", () => {
  const redact = createRedactBody();
  const body = `{"n":1e3,"a":"caf\\u00e9 \\/ 1","password":"${plantedToken}","tool":{"token":{"type":"string"}}, "b":"x ${plantedKey}"}`;
  expect(redact(body)).toBe(
    `{"n":1e3,"a":"caf\\u00e9 \\/ 1","password":"[redacted]","tool":{"token":{"type":"string"}}, "b":"x [redacted]"}`,
  );
  expect(redact("data: not json, Authorization: Bearer x")).toBe(
    "data: not json, Authorization: [redacted]",
  );
  expect(redact('{"half":"a')).toBe('{"half":"a');
});
