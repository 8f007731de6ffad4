// Goal: strata trace shows what happened in a session, and exports it. Method: a session with a sub-agent on the
// simulator; its ledger is read by the command.
import { afterAll, beforeAll, expect, test } from "vitest";
import { strata } from "../src/cli/test-kit.ts";
import { describeEvent } from "../src/cli/trace/describe-event.ts";
import { completeEvent } from "../src/core/events/event.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { allScenarios } from "./golden/all-scenarios.ts";
import { sides } from "./golden/sides.ts";
import { openStage, type Stage } from "./golden/stage.ts";

let stage: Stage;
let worker: string;

beforeAll(async () => {
  const scenario = allScenarios["sub-agent-worker"];
  const [side] = sides;
  if (scenario === undefined || side === undefined) throw new Error("no scenario");
  stage = await openStage(side, { answer: scenario.answer() });
  await scenario.play(stage);
  const ledger = await openLedger(stage.file);
  const [found] = await ledger.listSessions({ parentSessionId: "golden", status: "all" });
  await ledger.close();
  worker = found?.id ?? "";
});

afterAll(() => stage.close());

const trace = async (...typed: readonly string[]): Promise<string> =>
  (await strata({}, "trace", ...typed, "--store", stage.file)).out;

test("a session's events come in order, each below its cause", async () => {
  const lines = (await trace("golden")).trimEnd().split("\n");
  const shape = lines.map((line) => line.slice(25).replace(/(\S) {2}.*$/, "$1"));
  expect(shape.slice(0, 8)).toEqual([
    "session.created",
    "turn.started",
    "  route.decided",
    "  llm.call_started",
    "    llm.call_completed",
    "      tool.called",
    "        tool.completed",
    "  llm.call_started",
  ]);
  expect(lines[0]).toMatch(/^2026-11-15 12:00:00\.\d{3} {2}session\.created +\S+, on /);
  expect(lines.find((line) => line.includes("llm.call_completed"))).toMatch(
    /tool_use, [\d.k]+ read, [\d.k]+ written, [\d.k]+ uncached, [\d.k]+ made, \$0\.\d{4}, \d/,
  );
  expect(lines.find((line) => line.includes("tool.called"))).toContain("delegate");
});

test("a sub-agent's session has a trace of its own, which names the session that started it", async () => {
  const out = await trace(worker);
  expect(out).toMatch(/session\.created .*sub-agent of golden\n/);
  expect(out).toContain("turn.completed");
});

test("--json is the audit trail: every event whole, a line each (D-14)", async () => {
  const events = (await trace("golden", "--json"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const ledger = await openLedger(stage.file);
  const stored: unknown[] = [];
  for await (const event of ledger.readEvents({ sessionId: "golden" })) stored.push(event);
  await ledger.close();
  expect(events).toEqual(stored);
  expect(events[0]).toMatchObject({
    type: "session.created",
    actor: "system",
    sensitivity: "private",
  });
});

test("--type and --turn choose events, by type or by kind", async () => {
  const calls = await trace("golden", "--type", "llm.call_completed,tool", "--json");
  const types = calls
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(new Set(types)).toEqual(new Set(["llm.call_completed", "tool.called", "tool.completed"]));
  const first = JSON.parse(
    (await trace("golden", "--type", "turn.started", "--json")).split("\n")[0] ?? "",
  );
  const ofTurn = await trace("golden", "--turn", first.turnId, "--json");
  for (const line of ofTurn.trimEnd().split("\n"))
    expect(JSON.parse(line).turnId).toBe(first.turnId);
  expect(await trace("golden", "--type", "memory")).toBe(
    "No stored event fits --type and --turn.\n",
  );
});

test.each([
  [["goldn"], "there is no session goldn in"],
  [["golden", "--type", "cache.mis"], 'there is no event "cache.mis"'],
  [["golden", "--turn", "nowhere"], "session golden has no turn nowhere"],
])("%j is refused with what is wrong", async (typed, message) => {
  const { status, error } = await strata({}, "trace", ...typed, "--store", stage.file);
  expect(status).not.toBe(0);
  expect(error).toContain(message);
});

test("money is rounded from its exact digits", () => {
  const payload = {
    scope: "day",
    cap_usd: "1.00005",
    spent_usd: "9007199254740993.00015",
    needed_usd: null,
    model: "claude-sonnet-4-6",
    provider: "anthropic",
  } as const;
  const draft = { sessionId: "s", type: "spending.cap_reached", payload } as const;
  const event = completeEvent(draft, { id: "01", timestampUs: 1 });
  expect(describeEvent(event)).toBe("cap per day: $1.0001, spent $9,007,199,254,740,993.0002");
});
