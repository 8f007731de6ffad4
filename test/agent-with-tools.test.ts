// Goal: what an agent knows and does goes through the real parts. Method: a session on the simulator in a workspace on
// disk, with documents, memory, a skill and the dispatcher; the disk, the requests and the trace are looked at.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import { checkTrace } from "../harness/check-trace.ts";
import type { StrataEvent } from "../src/core/events/event.ts";
import { toContextParts } from "../src/core/layers/workspace-bundle.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { createSkillRegistry } from "../src/core/skills/skill-registry.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { bodyText } from "../src/core/wire/encoded-request.ts";
import { createEventBus } from "../src/edge/events/event-bus.ts";
import { anthropicEndpoint } from "../src/core/wire/anthropic-messages/access.ts";
import { createProvider } from "../src/edge/providers/provider.ts";
import { openMemorySession } from "../src/edge/files/memory/memory-session.ts";
import { openMemoryStore } from "../src/edge/files/memory/memory-store.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { openScope } from "../src/edge/files/guard/scoped-files.ts";
import { createSkillStore } from "../src/edge/files/skills/skill-store.ts";
import { createWorkspaceCache } from "../src/edge/files/workspace/workspace-cache.ts";
import { builtInTools } from "../src/edge/tools/built-in-tools.ts";
import { createDispatcher } from "../src/edge/tools/dispatch/dispatcher.ts";
import { memoryTools } from "../src/edge/tools/memory/memory-tools.ts";
import { skillTools } from "../src/edge/tools/skills/skill-tools.ts";
import { runTurn, type Deps } from "../src/engine.ts";
import { openSession } from "../src/engine/session/open-session.ts";
import { createScripted, createSimulator } from "../src/simulator/index.ts";

let root = "";
let ledger: Ledger;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "strata-agent-"));
  writeFileSync(join(root, "AGENTS.md"), "Run the tests before you answer.\n");
  writeFileSync(join(root, "notes.txt"), "The port is 4177.\n");
  mkdirSync(join(root, ".strata/skills/release"), { recursive: true });
  writeFileSync(join(root, ".strata/MEMORY.md"), "Uses npm.\n");
  writeFileSync(
    join(root, ".strata/skills/release/SKILL.md"),
    "---\nname: release\ndescription: How a release is made.\n---\n\nTag it, then publish.\n",
  );
  ledger = await openLedger(join(root, "ledger.db"));
});

afterEach(async () => {
  await ledger.close();
  rmSync(root, { recursive: true, force: true });
});

const steps = [
  {
    text: "Looking.",
    toolCalls: [
      { name: "read", input: { path: "notes.txt" } },
      { name: "read", input: { path: "../secrets" } },
      { name: "skill_load", input: { name: "release" } },
    ],
  },
  {
    text: "Keeping it.",
    toolCalls: [{ name: "memory_add", input: { file: "MEMORY.md", entry: "The port is 4177." } }],
  },
  { text: "Done." },
];

test("an agent reads, remembers and loads a skill through the dispatcher, and its trace is whole", async () => {
  const files = await openScope(root);
  const store = await openMemoryStore(root);
  const memory = await openMemorySession(store, { mode: "snapshot-delta", scope: "main" });
  const skills = await createSkillStore({ workspace: root });
  const registry = createSkillRegistry();
  const cache = createWorkspaceCache({});
  const bus = createEventBus({ store: ledger, strictness: "strict", onProblem: () => {} });
  const dispatcher = createDispatcher({
    tools: [
      ...builtInTools(files, {}),
      ...memoryTools(store),
      ...skillTools({ store: skills, registry }),
    ],
    workspace: files,
    events: bus,
  });
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createScripted(steps) });
  const server = await simulator.listen({ port: 0 });
  const provider = createProvider({
    protocol: anthropicMessages,
    ...anthropicEndpoint({ apiKey: plantedKey, baseUrl: server.url }),
  });
  const bodies: string[] = [];
  const sending: Deps["provider"] = {
    send: (call) => {
      bodies.push(bodyText(call.request.pieces));
      return provider.send(call);
    },
  };
  const bundle = await cache.load({ root, scope: "main" });
  const session = openSession({
    id: "demo",
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", ...toContextParts(bundle), memory: memory.snapshot },
    tools: dispatcher.offered(),
    permissions: dispatcher.offered().flatMap(({ needs }) => needs),
    skills: skills.snapshot.skills,
    counter: cheapCounter,
    options: { outputTokensMax: 500, stream: true },
  });
  registry.preactivate(session.preactivated);
  const run = await runTurn(
    session,
    {
      id: "turn-1",
      event: { content: "Which port?", source: "human" },
      volatile: async () => memory.forNextCall(),
    },
    {
      provider: sending,
      ledger,
      events: bus,
      runTools: (uses, call) => dispatcher.runAll(uses, call),
      now: () => simulator.clock.now(),
    },
  );
  await bus.close();
  await provider.close();
  await server.close();
  cache.close();
  expect([run.end, run.calls.length]).toEqual(["done", 3]);
  expect(bodies[0]).toContain("Run the tests before you answer.");
  expect(bodies[0]).toContain("- release: How a release is made.");
  expect(bodies[0]).toContain("Uses npm.");
  expect(bodies[1]).toContain("The port is 4177.");
  expect(bodies[1]).toContain("Tag it, then publish.");
  expect(bodies[1]).toMatch(/"is_error":true/);
  expect(bodies[2]).toContain("Memory has changed since the start of this session.");
  expect(readFileSync(join(root, ".strata/MEMORY.md"), "utf8")).toBe(
    "Uses npm.\nThe port is 4177.\n",
  );
  const events: StrataEvent[] = [];
  for await (const event of ledger.readEvents({ sessionId: "demo" })) events.push(event);
  expect(checkTrace(events)).toEqual([]);
  const second = events.filter(({ type }) => type === "llm.call_started")[1];
  const parent = events.find(({ id }) => id === second?.parentEventId);
  expect(parent?.type).toMatch(/^tool\.(completed|failed)$/);
  const problems: string[] = [];
  for await (const problem of ledger.check()) problems.push(problem);
  expect(problems).toEqual([]);
});

test("M-34: a skill whose body is in the prompt from the start is pointed to, and not given again", async () => {
  const skills = await createSkillStore({ workspace: root });
  const registry = createSkillRegistry();
  const dispatcher = createDispatcher({ tools: skillTools({ store: skills, registry }) });
  const session = openSession({
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: findPolicy("metis"),
    context: { role: "unified" },
    tools: dispatcher.offered(),
    permissions: dispatcher.offered().flatMap(({ needs }) => needs),
    skills: skills.snapshot.skills,
    counter: cheapCounter,
    options: { outputTokensMax: 500, stream: true },
  });
  expect(session.preactivated.map(({ name }) => name)).toEqual(["release"]);
  registry.preactivate(session.preactivated);
  const use = {
    type: "tool_use",
    id: "use-1",
    name: "skill_load",
    inputJson: '{"name":"release"}',
  } as const;
  const about = { sessionId: session.id, turnId: "turn-1", role: "unified" } as const;
  const [answer] = await dispatcher.runAll([use], about);
  expect(JSON.stringify(answer)).toContain("Its whole text is in the system prompt already");
  expect(registry.state().loaded).toEqual([]);
});
