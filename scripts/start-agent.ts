// The last part of npm start: an agent with documents, memory, a skill and tools in a workspace on disk.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPolicy } from "../src/core/cache/policies.ts";
import { checkTrace } from "../src/core/events/check-trace.ts";
import type { StrataEvent } from "../src/core/events/event.ts";
import { toContextParts } from "../src/core/layers/workspace-bundle.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { createSkillRegistry } from "../src/core/skills/skill-registry.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { createEventBus } from "../src/edge/events/event-bus.ts";
import { anthropicEndpoint } from "../src/edge/providers/endpoints.ts";
import { createProvider } from "../src/edge/providers/provider.ts";
import { openMemorySession } from "../src/edge/stores/memory/memory-session.ts";
import { openMemoryStore } from "../src/edge/stores/memory/memory-store.ts";
import { openScope } from "../src/edge/stores/scoped-files.ts";
import { createSkillStore } from "../src/edge/stores/skills/skill-store.ts";
import { createWorkspaceCache } from "../src/edge/stores/workspace/workspace-cache.ts";
import { builtInTools } from "../src/edge/tools/built-in-tools.ts";
import { createDispatcher, type Dispatcher } from "../src/edge/tools/dispatcher.ts";
import { memoryTools } from "../src/edge/tools/memory-tools.ts";
import { skillTools } from "../src/edge/tools/skill-tools.ts";
import { runTurn, type TurnRun } from "../src/engine.ts";
import { openSession, type Session } from "../src/engine/session.ts";
import { createScripted, createSimulator } from "../src/simulator/index.ts";

/** What the simulated model does in its one turn. */
const steps = [
  {
    text: "I look at the notes and at how a release is made.",
    toolCalls: [
      { name: "read", input: { path: "notes.txt" } },
      { name: "read", input: { path: "../outside.txt" } },
      { name: "skill_load", input: { name: "release" } },
    ],
  },
  {
    text: "I keep that for later.",
    toolCalls: [{ name: "memory_add", input: { file: "MEMORY.md", entry: "The port is 4177." } }],
  },
  { text: "It listens on port 4177." },
];

export async function printAgent(root: string, ledger: Ledger): Promise<void> {
  makeWorkspace(root);
  const bus = createEventBus({ store: ledger, onProblem: () => {} });
  const files = await openScope(root);
  const store = await openMemoryStore(root);
  const memory = await openMemorySession(store, { mode: "snapshot-delta", scope: "main" });
  const skills = await createSkillStore({ workspace: root });
  const registry = createSkillRegistry();
  const dispatcher = createDispatcher({
    tools: [
      ...builtInTools(files, {}),
      ...memoryTools(store),
      ...skillTools({ store: skills, registry }),
    ],
    workspace: files,
    events: bus,
  });
  const session = await openAgent(root, dispatcher, skills.snapshot.skills);
  registry.preactivate(session.preactivated);
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createScripted(steps) });
  const server = await simulator.listen({ port: 0 });
  const endpoint = anthropicEndpoint({ apiKey: "none needed", baseUrl: server.url });
  const provider = createProvider({ protocol: anthropicMessages, ...endpoint });
  try {
    const turn = {
      event: { content: "Which port does it listen on?", source: "human" },
      volatile: async () => memory.forNextCall(),
    };
    const run = await runTurn(session, turn, {
      provider,
      ledger,
      events: bus,
      runTools: (uses, call) => dispatcher.runAll(uses, call),
      now: () => simulator.clock.now(),
    });
    await bus.flush();
    await printRun(root, ledger, run);
  } finally {
    await bus.close();
    await provider.close();
    await server.close();
  }
}

function makeWorkspace(root: string): void {
  mkdirSync(join(root, ".strata/skills/release"), { recursive: true });
  writeFileSync(join(root, "AGENTS.md"), "Look before you answer.\n");
  writeFileSync(join(root, "notes.txt"), "It listens on port 4177.\n");
  writeFileSync(join(root, ".strata/MEMORY.md"), "Uses npm.\n");
  writeFileSync(
    join(root, ".strata/skills/release/SKILL.md"),
    "---\nname: release\ndescription: How a release is made.\n---\n\nTag it, then publish it.\n",
  );
}

async function openAgent(
  root: string,
  dispatcher: Dispatcher,
  skills: Parameters<typeof openSession>[0]["skills"],
): Promise<Session> {
  const documents = createWorkspaceCache({});
  const bundle = await documents.load({ root, scope: "main" });
  documents.close();
  const tools = dispatcher.offered();
  return openSession({
    id: "with tools",
    agent: "example",
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", ...toContextParts(bundle) },
    tools,
    permissions: tools.flatMap(({ needs }) => needs),
    ...(skills === undefined ? {} : { skills }),
    counter: cheapCounter,
    options: { outputTokensMax: 500, stream: true },
  });
}

async function printRun(root: string, ledger: Ledger, { calls, end }: TurnRun): Promise<void> {
  const events: StrataEvent[] = [];
  for await (const event of ledger.readEvents({ sessionId: "with tools" })) events.push(event);
  const [problem] = checkTrace(events);
  if (end !== "done" || problem !== undefined) {
    throw new Error(problem?.message ?? `the turn with tools ended as ${end}`);
  }
  console.log("\nAn agent in a workspace on disk, with documents, memory, a skill and real tools:");
  for (const { reply, number } of calls) {
    const uses =
      reply?.content.flatMap((block) => (block.type === "tool_use" ? [block] : [])) ?? [];
    const told = uses.map(({ id, name, inputJson }) => {
      const isOk = events.some(
        (event) => event.type === "tool.completed" && event.payload.tool_use_id === id,
      );
      return `    ${name} ${inputJson}: ${isOk ? "ok" : "refused"}`;
    });
    const said = reply?.content.find((block) => block.type === "text");
    console.log(
      [`  call ${number}: ${said?.type === "text" ? said.text : ""}`, ...told].join("\n"),
    );
  }
  const lines = readFileSync(join(root, ".strata/MEMORY.md"), "utf8").trim().split("\n");
  console.log(
    `MEMORY.md now ends with "${lines.at(-1)}"; ${events.length} events tell of it, each with its cause.`,
  );
}
