// Goal: one call opens everything an agent needs, as configured. Method: files and a ledger on disk, the simulator over HTTP.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../harness/planted-key.ts";
import { createEventIds } from "../core/events/event-ids.ts";
import type { StrataEvent } from "../core/events/event.ts";
import { cheapCounter } from "../core/tokens/cheap-counter.ts";
import { configOf } from "../edge/config/test-kit.ts";
import { createEventBus } from "../edge/events/event-bus.ts";
import { openLedger } from "../edge/stores/open-ledger.ts";
import { closeAll, closeLater } from "../edge/providers/test-kit.ts";
import type { EngineSession } from "../engine/session/engine-session.ts";
import { createScripted, createSimulator } from "../simulator/index.ts";
import { openNodeServer } from "../simulator/server/node-server.ts";
import { openHost, type Host, type HostOptions } from "./open-host.ts";
import { usualModel } from "./config/choose-model.ts";

let folder = "";
let notices: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-open-"));
  mkdirSync(join(folder, "work"));
  notices = [];
});
afterEach(async () => {
  await closeAll();
  rmSync(folder, { recursive: true, force: true });
});

describe("without a key", () => {
  test("an agent is simulated in its own folder, may only read, and that is reported once", async () => {
    const opened = await open({});
    expect(opened.isSimulated).toBe(true);
    expect(opened.isTemporary).toBe(true);
    expect(existsSync(opened.workspace)).toBe(true);
    const session = await opened.engine.open();
    const names = session.session.thread.foundation.tools.map(({ name }) => name);
    expect(names).toContain("read");
    for (const name of ["write", "edit", "bash", "memory_add", "skill_save"]) {
      expect(names).not.toContain(name);
    }
    const { end } = await session.run("What is in this folder?").result;
    expect(end).toBe("done");
    expect(notices.filter((notice) => notice.startsWith("answers are simulated"))).toHaveLength(1);
    await opened.close();
    expect(existsSync(opened.workspace)).toBe(false);
  });

  test("in a folder that the caller names it may write, but never run commands", async () => {
    const workspace = join(folder, "work");
    const configFile = write("tools: { toolset: full, bash: true }\n");
    const { engine, isTemporary } = await open({ workspace, configFile });
    const { session } = await engine.open();
    const names = session.thread.foundation.tools.map(({ name }) => name);
    expect(isTemporary).toBe(false);
    expect(names).toContain("write");
    expect(names).not.toContain("bash");
  });
});

describe("with simulated and real models", () => {
  const both = `
providers:
  anthropic: { kind: simulator }
  openai: { base_url: "http://127.0.0.1:9/v1", api_key: ${plantedOpenaiKey} }
models: { default: gpt-6.1-sol }
tools: { toolset: full, bash: true }
`;

  test("the model of the first session decides for all: a simulated one has no commands", async () => {
    const of = { workspace: join(folder, "work"), configFile: write(both) };
    const real = await open(of);
    expect(toolsOf(await real.engine.open())).toContain("bash");
    const { engine, isSimulated } = await open({ ...of, model: "claude-sonnet-5-5" });
    expect(isSimulated).toBe(true);
    expect(toolsOf(await engine.open({ model: "claude-sonnet-5-5" }))).not.toContain("bash");
    await expect(engine.open()).rejects.toThrow(
      "gpt-6.1-sol is real, but this host runs simulated models",
    );
  });

  test("a turn is not sent across, nor is a session; a rule that says so is passed over", async () => {
    const rule = 'routing: { patterns: [{ match: "other", model: gpt-6.1-sol }], sticky: false }\n';
    const of = { workspace: join(folder, "work"), configFile: write(both + rule) };
    const { engine } = await open({ ...of, model: "claude-sonnet-5-5" });
    const session = await engine.open({ model: "claude-sonnet-5-5" });
    await expect(session.useModel("gpt-6.1-sol")).rejects.toThrow("is real, but this host");
    const turn = session.run("Ask the other one.", { model: "gpt-6.1-sol" });
    expect((await turn.result).end).toBe("done");
    expect(session.session.model.id).toBe("claude-sonnet-5-5");
  });

  test("a provider that becomes simulated meanwhile is so from the next start on", async () => {
    const simulator = createSimulator({ model: createScripted([{ text: "1" }, { text: "2" }]) });
    const server = closeLater(await simulator.listen({ port: 0 }));
    const real = `providers: { anthropic: { base_url: "${server.url}", api_key: ${plantedKey} } }\n`;
    const configFile = write(real);
    const { engine } = await open({ workspace: join(folder, "work"), configFile });
    const session = await engine.open();
    expect((await session.run("One.").result).end).toBe("done");
    write("providers: { anthropic: { kind: simulator } }\n");
    expect((await session.run("Two.").result).end).toBe("done");
    expect(simulator.calls()).toHaveLength(2);
    await expect(session.useModel("claude-haiku-5-5")).rejects.toThrow("would be simulated");
  });
});

describe("what is configured", () => {
  test("decides on provider, model, ledger and agent; metrics know whose turns they were", async () => {
    const simulator = createSimulator({ model: createScripted([{ text: "Good morning." }]) });
    const server = closeLater(await simulator.listen({ port: 0 }));
    const configFile = write(`
models: { aliases: { fast: claude-haiku-4-5 } }
agents: { ana: { model: fast } }
ledger: { store: own.db }
providers: { anthropic: { base_url: "${server.url}", api_key: ${plantedKey} } }
`);
    const workspace = join(folder, "work");
    const { engine, metrics, isSimulated } = await open({ workspace, configFile, agent: "ana" });
    const session = await engine.open();
    await session.run("Hello.").result;
    expect(isSimulated).toBe(false);
    expect(session.session.model.id).toBe("claude-haiku-4-5");
    expect(simulator.calls()).toHaveLength(1);
    expect(existsSync(join(folder, "own.db"))).toBe(true);
    expect(await metrics.render()).toContain(
      'agent_turns_total{agent="ana",outcome="completed"} 1',
    );
    expect(notices).toEqual([]);
  });

  test("decides on prices, which metrics reckon with, too", async () => {
    const simulator = createSimulator({ model: createScripted([{ text: "Good morning." }]) });
    const server = closeLater(await simulator.listen({ port: 0 }));
    const configFile = write(`
models:
  default: mine
  add: { mine: { provider: anthropic, status: active, window: 200000, maxOutput: 8000, prices: [{ input: 2000, output: 0 }] } }
providers: { anthropic: { base_url: "${server.url}", api_key: ${plantedKey}, model_names: { mine: claude-haiku-4-5 } } }
`);
    const { engine, metrics } = await open({ workspace: join(folder, "work"), configFile });
    await (await engine.open()).run("Hello.").result;
    const text = await metrics.render();
    expect(text).not.toContain("llm_calls_unpriced_total{");
    const [, usd] = /llm_cost_without_cache_usd_total\{[^}]*model="mine"\} (\S+)/.exec(text) ?? [];
    expect(Number(usd)).toBeGreaterThan(0.1);
  });

  test("sweeps events that are older than they are to be kept", async () => {
    const ledger = closeLater(await openLedger(":memory:"));
    for (const days of [40, 10]) {
      const nowUs = (): number => (Date.now() - days * 86_400_000) * 1000;
      const bus = createEventBus({ store: ledger, onProblem: () => {}, nowUs });
      const payload = { workspace_hash: "w", last_event_id_at_resume: null };
      bus.emit({ type: "session.resumed", sessionId: "s", payload });
      await bus.close();
    }
    const configFile = write("ledger: { events_kept_days: 30 }\n");
    const opened = await open({ configFile, ledger });
    await opened.close();
    const left: string[] = [];
    for await (const { type } of ledger.readEvents({ sessionId: "s" })) left.push(type);
    expect(left).toEqual(["session.resumed"]);
    expect(notices).toEqual([]);
  });

  test("asks for betas with markers, and for those of an hour with such markers (N-13)", async () => {
    const betas: (string | null)[] = [];
    const simulator = createSimulator();
    const { fetch } = simulator;
    const server = closeLater(
      await openNodeServer((request) => {
        betas.push(request.headers.get("anthropic-beta"));
        return fetch(request);
      }),
    );
    const env = { ANTHROPIC_CACHE_BETA: "base-beta", ANTHROPIC_CACHE_LONG_TTL_BETA: "long-beta" };
    for (const policy of ["tail-5m", "tail-1h", "none"]) {
      const configFile = write(`
policies: { default: ${policy} }
models: { default: claude-sonnet-4-6 }
providers: { anthropic: { base_url: "${server.url}", api_key: ${plantedKey} } }
`);
      writeFileSync(join(folder, "work", "AGENTS.md"), "Be brief. ".repeat(2000));
      const opened = await open({ workspace: join(folder, "work"), configFile, env });
      await (await opened.engine.open()).run("Hello.").result;
      await opened.close();
    }
    expect(betas).toEqual(["base-beta", "base-beta,long-beta", null]);
  });

  test("configured betas are sent with those of markers; a model goes by its configured name (N-13)", async () => {
    const seen: unknown[] = [];
    const { fetch } = createSimulator();
    const server = closeLater(
      await openNodeServer(async (request) => {
        const sent: unknown = await request.clone().json();
        seen.push([request.headers.get("anthropic-beta"), sent]);
        return fetch(request);
      }),
    );
    const named = (more: string): string => `
policies: { default: tail-5m }
models: { default: claude-sonnet-4-6 }
providers:
  anthropic:
    base_url: "${server.url}"
    api_key: ${plantedKey}
    headers: { Anthropic-Beta: "mine,base-beta" }
    ${more}
`;
    const configFile = write(
      named("model_names: { claude-sonnet-4.6: claude-sonnet-4-6-20260217 }"),
    );
    writeFileSync(join(folder, "work", "AGENTS.md"), "Be brief. ".repeat(2000));
    const env = { ANTHROPIC_CACHE_BETA: "base-beta" };
    const opened = await open({ workspace: join(folder, "work"), configFile, env });
    const session = await opened.engine.open();
    await session.run("Hello.").result;
    write(named("model_names: {}"));
    await session.run("Hello again.").result;
    expect(seen).toMatchObject([
      ["base-beta,mine", { model: "claude-sonnet-4-6-20260217" }],
      ["base-beta,mine", { model: "claude-sonnet-4-6" }],
    ]);
  });

  test("lets an agent give tasks to sub-agents, and changes of that hold from the next task on (N-06)", async () => {
    const toDelegate = {
      text: "Asking.",
      toolCalls: [{ name: "delegate", input: { task: "Count." } }],
    };
    const said = ["Three.", "Asked.", "Four.", "Asked again."].map((text) => ({ text }));
    const [first, second, third, fourth] = said;
    const script = [toDelegate, first, second, toDelegate, third, fourth, toDelegate, second];
    const model = createScripted(script.flatMap((step) => (step === undefined ? [] : [step])));
    const simulator = createSimulator({ model });
    const server = closeLater(await simulator.listen({ port: 0 }));
    const workedBy = (worker: string, isEnabled = true): string => `
models: { default: claude-sonnet-4-6, aliases: { fast: claude-haiku-4-5 } }
providers: { anthropic: { base_url: "${server.url}", api_key: ${plantedKey} } }
sub_agents: { enabled: ${isEnabled}, worker_model: ${worker} }
`;
    const configFile = write(workedBy("fast"));
    const { engine, metrics, ledger } = await open({ workspace: join(folder, "work"), configFile });
    const session = await engine.open({ id: "s" });
    expect(toolsOf(session)).toContain("delegate");
    await session.run("How many are there?").result;
    write(workedBy("claude-sonnet-4-6"));
    await session.run("And now?").result;
    const called = simulator.calls().map(({ billed }) => billed?.model);
    const [sonnet, haiku] = ["claude-sonnet-4-6", "claude-haiku-4-5"];
    expect(called).toEqual([sonnet, haiku, sonnet, sonnet, sonnet, sonnet]);
    expect(await metrics.render()).toContain("agent_turns_total");
    write(workedBy("no-such-model"));
    const { calls } = await session.run("Once more.").result;
    expect(JSON.stringify(calls.at(-1)?.sent)).toContain("The worker could not be started");
    write(workedBy("fast", false));
    expect(toolsOf(await engine.open())).not.toContain("delegate");
    expect((await ledger.findSession("s"))?.turnCount).toBe(3);
  });

  test("memory in the system prompt needs a layout that has a place for it, and the error says so", async () => {
    const workspace = join(folder, "work");
    const configFile = write("memory: { mode: live-system }\n");
    const { engine } = await open({ workspace, configFile });
    await expect(engine.open()).rejects.toThrow(
      "memory in the mode live-system needs a layout with volatile text at system-tail; this one puts it at message-tail",
    );
    writeFileSync(configFile, "memory: { mode: live-system }\npolicies: { default: metis }\n");
    expect((await engine.open()).session.policy.layout.volatile).toBe("system-tail");
  });

  test("a summariser that cannot be asked leaves summaries to the session's own model, and that is said", async () => {
    const configFile = write(
      `
models: { add: { scribe: { provider: garage, window: 65536, prices: [{ input: 1, output: 1 }] } } }
context_optimization: { compaction: { summarizer_model: scribe } }
`,
    );
    const { engine } = await open({ workspace: join(folder, "work"), configFile });
    const session = await engine.open();
    expect((await session.run("Hello.").result).end).toBe("done");
    expect((await session.run("Hello again.").result).end).toBe("done");
    expect(notices.filter((notice) => notice.startsWith("summaries are written by"))).toHaveLength(
      1,
    );
  });
});

test("a session that goes on has event ids after those of a clock that was ahead", async () => {
  const workspace = join(folder, "work");
  const first = await open({ workspace });
  const session = await first.engine.open({ id: "s" });
  await session.run("Hello.").result;
  await first.close();

  const second = await open({ workspace });
  const [event] = await eventsOf(second);
  const ahead = createEventIds().next(Date.now() + 3_600_000, new Uint8Array(10));
  await second.ledger.appendEvents(event === undefined ? [] : [{ ...event, id: ahead }]);
  const again = await second.engine.resume("s");
  expect((await again.run("Hello again.").result).end).toBe("done");
  await second.events.flush();
  const later = (await eventsOf(second)).filter(({ id }) => id > ahead);
  expect(later.slice(0, 2).map(({ type }) => type)).toEqual(["session.resumed", "turn.started"]);
  expect(later.at(-1)?.type).toBe("turn.completed");
});

test("the usual model is one that can be asked; a provider of one's own has none", () => {
  expect(modelFor("{}")).toBe("claude-sonnet-5-5");
  expect(modelFor("{}", { OPENAI_API_KEY: plantedOpenaiKey })).toBe("gpt-6.1-sol");
  expect(modelFor("{}", { GEMINI_API_KEY: plantedKey })).toBe("gemini-3.8-flash");
  const own = 'providers: { garage: { kind: openai-compatible, base_url: "http://localhost:1" } }';
  expect(() => modelFor(own)).toThrow("no model is chosen, and garage has no default model");
});

function toolsOf({ session }: EngineSession): readonly string[] {
  return session.thread.foundation.tools.map(({ name }) => name);
}

function modelFor(yaml: string, env: Record<string, string> = {}): string {
  return usualModel(configOf(yaml, { env }), "agent");
}

function write(yaml: string): string {
  const path = join(folder, "strata.yaml");
  writeFileSync(path, yaml);
  return path;
}

async function eventsOf({ ledger }: Host): Promise<readonly StrataEvent[]> {
  const events: StrataEvent[] = [];
  for await (const event of ledger.readEvents({ sessionId: "s" })) events.push(event);
  return events;
}

type Options = Omit<HostOptions, "env"> & { readonly env?: Record<string, string> };

async function open(options: Options): Promise<Host> {
  const env = { STRATA_DATA_DIR: folder, ...options.env };
  const opened: Host = await openHost({
    counter: cheapCounter,
    homeFolder: folder,
    onNotice: (notice) => void notices.push(notice),
    ...options,
    env,
  });
  return closeLater(opened);
}
