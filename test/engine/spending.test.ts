// Goal: a call that might pass a spending cap is not sent, says so, and nothing is lost. Method: sessions on the
// simulator with caps just below and just above what a call may cost, through strata.yaml, openEngine and an own loop.
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { toPicoUsd } from "../../src/core/models/pico-usd.ts";
import {
  cheapCounter,
  openEngine,
  type OpenedEngine,
  type OpenEngineOptions,
} from "../../src/index.ts";
import { createScripted, type ScriptStep } from "../../src/simulator/index.ts";
import { eventsOf, makePlace, plantedKey, serve, start } from "./test-kit.ts";

// Opus 4.8: $5 per million tokens of input, $25 of output. The longest reply here costs $0.025.
const model = "claude-opus-4-8";
const options = { outputTokensMax: 1_000 };

async function open(more: Partial<OpenEngineOptions> = {}): Promise<OpenedEngine> {
  const engine = await openEngine({
    model,
    options,
    simulate: true,
    counter: cheapCounter,
    ...more,
  });
  onTestFinished(() => engine.close());
  return engine;
}

describe("a spending cap", () => {
  test("of a session stops the call that may pass it, and the turn says which, how much and what to do", async () => {
    const engine = await open({ spending: { sessionUsd: 0.03 } });
    const session = await engine.session("s");
    expect((await session.run("Hello.").result).end).toBe("done");
    const paid = (await engine.ledger.findSession("s"))?.costPicoUsd ?? 0n;
    const words = "word ".repeat(2_000);
    const { end, error, calls, costPicoUsd } = await session.run(words).result;
    expect(end).toBe("failed");
    expect(error).toMatchObject({ kind: "spending_cap", isRetryable: false });
    expect(error?.message).toMatch(
      /^the spending cap of the session is \$0\.0300, and \$0\.\d{4} is spent; the next call may cost \$0\.\d{4} and was not sent: raise spending\.session_usd, or allow shorter replies$/,
    );
    expect(calls.map(({ status, failure }) => [status, failure?.kind])).toEqual([
      ["failed", "spending-cap"],
    ]);
    expect(costPicoUsd).toBe(0n);
    expect((await engine.ledger.findSession("s"))?.costPicoUsd).toBe(paid);
    // What was said is on record.
    const [turnId = ""] = calls.map((call) => call.turnId);
    const [said] = await engine.ledger.readMessages(turnId);
    expect(JSON.stringify(said?.message)).toContain("word word");
    await engine.events.flush();
    const told = (await eventsOf(engine, "s")).filter(
      ({ type }) => type === "spending.cap_reached",
    );
    expect(told.map(({ payload }) => payload)).toMatchObject([
      { scope: "session", cap_usd: "0.03", spent_usd: toText(paid), model, provider: "anthropic" },
    ]);
    const types = (await eventsOf(engine, "s")).map(({ type }) => type);
    expect(types.slice(types.lastIndexOf("turn.started"))).toEqual([
      "turn.started",
      "route.decided",
      "spending.cap_reached",
      "llm.call_failed",
      "turn.failed",
    ]);
  });

  test("is exact: a call that may cost as much as is left is sent", async () => {
    const stopped = await open({ spending: { sessionUsd: 0 } });
    const first = await (await stopped.session("a")).run("Hello.").result;
    const needed = Number(/may cost \$([\d.]+)/.exec(first.error?.message ?? "")?.[1]);
    expect(needed).toBeGreaterThan(0.025);
    const events = await eventsOf(stopped, "a");
    const told = events.find(({ type }) => type === "spending.cap_reached")?.payload as {
      needed_usd: string;
    };
    const [exact, less] = [Number(told.needed_usd), Number(told.needed_usd) - 0.0000001];
    const end = async (sessionUsd: number): Promise<string> => {
      const engine = await open({ spending: { sessionUsd } });
      return (await (await engine.session("a")).run("Hello.").result).end;
    };
    expect([await end(less), await end(exact)]).toEqual(["failed", "done"]);
  });

  test("that is raised lets the same words through, in another process too", async () => {
    const place = makePlace();
    const { url } = await serve();
    const configure = (cap: number): void =>
      place.configure(`
models: { default: ${model} }
agents: { ana: { reply_tokens_max: 1000, spending: { session_usd: ${cap} } } }
spending: { session_usd: 100 }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }
`);
    configure(0.01);
    const one = await start(place);
    const session = await one.engine.open({ id: "s" });
    expect((await session.run("Hello.").result).error?.kind).toBe("spending_cap");
    configure(1);
    expect((await session.run("Hello.").result).end).toBe("done");
    configure(0.02);
    await one.close();
    const two = await start(place);
    const again = await two.engine.resume("s");
    expect((await again.run("And?").result).error?.kind).toBe("spending_cap");
  });

  test("of an agent and of a day holds over all sessions of the ledger", async () => {
    const store = join(makePlace().folder, "ledger.db");
    const first = await open({ store, agent: "ana" });
    await (await first.session("a")).run("Hello.").result;
    const spent = await first.ledger.sumSpending({ agent: "ana" });
    expect(await first.ledger.sumSpending({ sinceMs: Date.now() - 60_000 })).toBe(spent);
    const ask = async (agent: string, spending: OpenEngineOptions["spending"]): Promise<string> => {
      const engine = await open({ store, agent, ...(spending && { spending }) });
      const { end, error } = await (await engine.session(`${agent} ${Math.random()}`)).run("Hi.")
        .result;
      return error?.message.split(",")[0] ?? end;
    };
    const cap = 0.026;
    expect(await ask("ana", { agentUsd: cap })).toBe("the spending cap of the agent is $0.0260");
    expect(await ask("ben", { agentUsd: cap })).toBe("done");
    expect(await ask("ben", { dayUsd: cap })).toBe("the spending cap of the day is $0.0260");
    expect(await ask("ben", { dayUsd: cap, timezone: "Asia/Kolkata" })).toContain("of the day");
  });

  test("counts what runs beside it in the same process", async () => {
    const engine = await open({ agent: "ana", spending: { agentUsd: 0.06 } });
    const runs = await Promise.all(
      ["a", "b", "c", "d"].map(async (id) => (await engine.session(id)).run("Hello.").result),
    );
    expect(runs.map(({ end }) => end).toSorted()).toEqual(["done", "done", "failed", "failed"]);
    expect((await (await engine.session("e")).run("Hello.").result).end).toBe("done");
  });

  test("cannot be kept for a model without a price: the call is not sent", async () => {
    const preview = "claude-mythos-preview";
    const engine = await open({ model: preview, spending: { sessionUsd: 1 } });
    const { error } = await (await engine.session("s")).run("Hello.").result;
    expect(error?.message).toContain(`${preview} has no price, so the call was not sent`);
  });

  test("holds for summaries as well: the history stays as it is, and the reason is told", async () => {
    const steps: readonly ScriptStep[] = Array.from({ length: 6 }, (_, at) => ({
      text: `Answer ${at}.`,
    }));
    const engine = await open({ simulate: { model: createScripted(steps) } });
    const session = await engine.session("s");
    for (let at = 0; at < 5; at += 1) await session.run(`${at} ${"word ".repeat(3_000)}`).result;
    const capped = await open({ store: engine.ledger, spending: { sessionUsd: 0.01 } });
    const outcome = await (await capped.session("s")).compact();
    expect(outcome).toMatchObject({
      kind: "unchanged",
      why: expect.stringContaining("the spending cap of the session is $0.0100") as string,
    });
    expect(await engine.ledger.readCompactions("s")).toEqual([]);
    await capped.events.flush();
    const types = (await eventsOf(capped, "s")).map(({ type }) => type);
    expect(types.slice(types.indexOf("compaction.started"))).toEqual([
      "compaction.started",
      "spending.cap_reached",
      "compaction.failed",
    ]);
  });
});

describe("in a loop of one's own", () => {
  test("prepare refuses before anything is sent, and works again when the cap is raised", async () => {
    const store = join(makePlace().folder, "ledger.db");
    const poor = await open({ store, spending: { sessionUsd: 0.01 } });
    const session = await poor.session("s");
    await expect(session.prepare("Hello.")).rejects.toMatchObject({
      code: "limit-reached",
      message: expect.stringContaining("the spending cap of the session is $0.0100") as string,
    });
    await poor.close();
    const rich = await open({ store, spending: { sessionUsd: 1 } });
    expect((await (await rich.session("s")).prepare("Hello.")).number).toBe(1);
  });
});

test.each([
  [{ sessionUsd: -1 }],
  [{ dayUsd: Number.NaN }],
  [{ agentUsd: "5" }],
  [{ dayUsd: 1, timezone: "Mars/Olympus" }],
])("a cap that is none is refused: %j", async (spending) => {
  await expect(open({ spending: spending as never })).rejects.toMatchObject({
    code: "input-invalid",
    message: "the option spending is not what it must be",
  });
});

function toText(pico: bigint): string {
  const text = pico.toString().padStart(13, "0");
  const digits = `${text.slice(0, -12)}.${text.slice(-12)}`.replace(/\.?0+$/, "");
  expect(toPicoUsd(Number(digits))).toBe(pico);
  return digits;
}
