import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { NewSession } from "../../core/ledger/session-record.ts";
import { noUsage } from "../../core/message/usage.ts";
import { entryWith } from "../../core/turn/test-kit.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { readReport, toReport } from "./report.ts";
import { say } from "../test-kit.ts";

const page = { toolName: "delegate", charactersMax: 10 };

let ledger: Ledger;

beforeEach(async () => {
  ledger = await openLedger(":memory:");
  const about = { agent: "a", role: "unified" as const, model: "m", provider: "p" };
  await ledger.createSession({ ...about, id: "parent" });
  const parent = { sessionId: "parent" };
  await ledger.createSession({ ...about, id: "long", parent, ...told("0123456789abcdef") });
  await ledger.createSession({ ...about, id: "paired", parent, ...told("012345678😀abc") });
  await ledger.createSession({ ...about, id: "silent", parent });
  await ledger.createSession({ ...about, id: "stranger", ...told("A secret.") });
});

afterEach(() => ledger.close());

function told(text: string): Pick<NewSession, "messages"> {
  const said = [say("user", "Do it."), say("assistant", text)];
  return { messages: said.map((message) => ({ message, tokens: 1 })) };
}

function read(sessionId: string, offset = 0): Promise<string> {
  const call = { sessionId: "parent" };
  return readReport(ledger, { sessionId, offset }, call, page).then(({ text }) => text);
}

describe("a report", () => {
  test("of calls without a price names no cost", () => {
    const run = { end: "done" as const, calls: [entryWith({ costPicoUsd: null, usage: noUsage })] };
    const { metadata } = toReport({ sessionId: "s", kind: "worker", run }, page);
    expect(metadata).toMatchObject({ callCount: 1, costPicoUsd: null, unpricedCallCount: 1 });
  });

  test("is read page by page, and each page but the last says how to go on", async () => {
    expect(await read("long")).toBe(
      '0123456789\n\n[Characters 0 to 10 of 16. Read on: delegate {"session":"long","offset":10}]',
    );
    expect(await read("long", 10)).toBe("abcdef");
  });

  test("is not cut inside a character", async () => {
    expect(await read("paired")).toContain("012345678\n\n[Characters 0 to 9 of 14.");
    expect(await read("paired", 9)).toBe("😀abc");
  });

  test("of a sub-agent that said nothing says so", async () => {
    expect(await read("silent")).toBe("(The sub-agent ended without a word.)");
  });

  test("ends where it ends", async () => {
    await expect(read("long", 16)).rejects.toThrow("the report has 16 characters");
  });

  test.each(["stranger", "parent", "nobody"])("of %s is for others, or nobody", async (id) => {
    await expect(read(id)).rejects.toThrow(`this session asked for no sub-agent "${id}"`);
  });
});

describe("a sub-agent that came to nothing", () => {
  test.each([
    ["cancelled", "cancelled", "The worker was cancelled. Ask for it again only if"],
    ["cut off", "execution_error", "was cut off. Ask again for a shorter report"],
    ["too many calls", "execution_error", "made 0 calls and was not done. Split the task"],
    ["failed", "execution_error", "The worker failed. Give the task again, or do it yourself."],
  ] as const)("%s is an error that says what to do", (end, errorClass, words) => {
    const run = { end, calls: [] };
    expect(() => toReport({ sessionId: "s", kind: "worker", run }, page)).toThrow(
      expect.objectContaining({ errorClass, message: expect.stringContaining(words) }),
    );
  });
});
