// Goal: a session in a folder knows its documents, memory and skills, and goes on with them elsewhere and after compactions.
// Method: engines on the simulator over real files; what the model was shown is looked at call by call.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { checkTrace } from "../../harness/check-trace.ts";
import {
  createAgent,
  createScripted,
  type Model,
  type Prompt,
  type ScriptStep,
} from "../../src/simulator/index.ts";
import { eventsOf, makePlace, serve, start, type Place, type Served } from "./test-kit.ts";

interface Stage {
  readonly place: Place;
  readonly served: Served;
  readonly prompts: Prompt[];
  readonly bodies: string[];
}

/** A workspace with everything in it, and a model that follows a script. */
async function makeStage(model: Model | readonly ScriptStep[], yaml = ""): Promise<Stage> {
  const place = makePlace();
  const prompts: Prompt[] = [];
  const answer: Model = typeof model === "function" ? model : createScripted(model);
  const bodies: string[] = [];
  const served = await serve(
    {
      model: (prompt) => {
        prompts.push(prompt);
        return answer(prompt);
      },
    },
    (_headers, body) => void bodies.push(body),
  );
  place.put("AGENTS.md", "Run the tests before you answer.\n");
  place.put("SOUL.md", "You are patient.\n");
  place.put("notes.txt", "The port is 4177.\n");
  place.put(".strata/MEMORY.md", "Uses npm.\n");
  place.put(
    ".strata/skills/release/SKILL.md",
    "---\nname: release\ndescription: How a release is made.\n---\n\nTag it, then publish it.\n",
  );
  place.configure(`
models: { default: claude-sonnet-4-6 }
providers: { anthropic: { base_url: "${served.url}", api_key: ${plantedKey} } }
${yaml}`);
  return { place, served, prompts, bodies };
}

const lastWords = ({ turns }: Prompt): string => turns.at(-1)?.text ?? "";

const resultsOf = ({ turns }: Prompt): readonly string[] =>
  turns.at(-1)?.toolResults.map(({ text }) => text) ?? [];

test("documents, memory and skills are in the prompt; tools work on the folder; the trace is whole", async () => {
  const { place, prompts } = await makeStage([
    {
      toolCalls: [
        { name: "read", input: { path: "notes.txt" } },
        { name: "read", input: { path: "../strata.yaml" } },
        { name: "skill_load", input: { name: "release" } },
      ],
    },
    {
      toolCalls: [{ name: "memory_add", input: { file: "MEMORY.md", entry: "The port is 4177." } }],
    },
    { text: "It is 4177." },
  ]);
  const started = await start(place);
  const session = await started.engine.open({ id: "s" });
  const { end } = await session.run("Which port?").result;
  expect(end).toBe("done");
  const [first, second, third] = prompts;
  expect(first?.system).toContain("Run the tests before you answer.");
  expect(first?.system).toContain("You are patient.");
  expect(first?.system).toContain("## Workspace memory (MEMORY.md)\n\nUses npm.");
  expect(first?.system).toContain("- release");
  expect(first?.tools.map(({ name }) => name)).toEqual([
    "edit",
    "glob",
    "grep",
    "history_read",
    "history_search",
    "list",
    "memory_add",
    "memory_consolidate",
    "memory_replace",
    "read",
    "skill_load",
    "skill_save",
    "skill_search",
    "write",
  ]);
  const results = second === undefined ? [] : resultsOf(second);
  expect(results[0]).toContain("The port is 4177.");
  expect(results[1]).toContain("strata.yaml");
  expect(results[1]).not.toContain("api_key");
  expect(results[2]).toContain("Tag it, then publish it.");
  // The very next call is told, and the prefix stays.
  expect(JSON.stringify(third?.turns.at(-1))).toContain("+ The port is 4177.");
  expect(third?.system).toBe(first?.system);
  expect(readFileSync(join(place.workspace, ".strata/MEMORY.md"), "utf8")).toBe(
    "Uses npm.\nThe port is 4177.\n",
  );

  const events = await eventsOf(started, "s");
  expect(checkTrace(events)).toEqual([]);
  const parentOf = (type: string): string | undefined => {
    const event = events.find((each) => each.type === type);
    return events.find(({ id }) => id === event?.parentEventId)?.type;
  };
  expect(parentOf("memory.updated")).toBe("tool.called");
  expect(parentOf("skill.loaded")).toBe("tool.called");

  const record = await started.ledger.findSession("s");
  const { madeOf }: { madeOf: readonly { name: string; note?: unknown }[] } = JSON.parse(
    record?.contextJson ?? "{}",
  );
  const noted = Object.fromEntries(madeOf.map(({ name, note }) => [name, note]));
  expect(noted["workspace"]).toMatchObject({ scope: "main" });
  expect(noted["memory"]).toMatchObject({ mode: "snapshot-delta" });
  expect(noted["skills"]).toMatchObject({ count: 1 });
  expect(noted["persona"]).toMatchObject({ name: null });
  expect(JSON.stringify(noted)).not.toContain("Uses npm.");
});

function useMemory(input: Readonly<Record<string, unknown>>): ScriptStep {
  return { toolCalls: [{ name: "memory", input }] };
}

test("memory.tools: one gives Claude models the memory tool that they know, on the same two files", async () => {
  const path = "/memories/MEMORY.md";
  const { place, bodies, prompts } = await makeStage(
    [
      useMemory({ command: "insert", path, insert_line: 1, insert_text: "The port is 4177." }),
      useMemory({ command: "create", path: "/memories/notes.md", file_text: "x" }),
      { text: "Kept." },
    ],
    "memory: { tools: one }\n",
  );
  const started = await start(place);
  const session = await started.engine.open({ id: "s" });
  const { end } = await session.run("Remember the port.").result;
  expect(end).toBe("done");
  const sent = bodies[0];
  expect(sent).toContain('{"type":"memory_20250818","name":"memory"}');
  expect(sent).not.toContain("memory_add");
  const [, second, third] = prompts;
  expect(second === undefined ? [] : resultsOf(second)).toEqual([
    "/memories/MEMORY.md has 28 bytes now.",
  ]);
  expect(third === undefined ? [] : resultsOf(third)).toEqual([
    expect.stringContaining("is no place for memory: it has two files"),
  ]);
  expect(JSON.stringify(second?.turns.at(-1))).toContain("+ The port is 4177.");
  expect(readFileSync(join(place.workspace, ".strata/MEMORY.md"), "utf8")).toBe(
    "Uses npm.\nThe port is 4177.\n",
  );
  const events = await eventsOf(started, "s");
  expect(checkTrace(events)).toEqual([]);
  expect(events.filter(({ type }) => type === "memory.updated")).toHaveLength(1);
});

test("another process goes on: it tells what changed in memory since, and knows which skills are loaded", async () => {
  const load = { toolCalls: [{ name: "skill_load", input: { name: "release" } }] };
  const { place, prompts } = await makeStage([load, { text: "Loaded." }, load, { text: "Still." }]);
  const first = await start(place);
  const session = await first.engine.open({ id: "s" });
  await session.run("How is a release made?").result;
  await first.close();
  place.put(".strata/MEMORY.md", "Uses npm.\nReleases are made on Mondays.\n");

  const second = await start(place);
  const again = await second.engine.resume("s");
  const { end } = await again.run("And again?").result;
  expect(end).toBe("done");
  const [before, , asked, answered] = prompts;
  expect(asked?.system).toBe(before?.system);
  expect(JSON.stringify(asked?.turns.at(-1))).toContain("+ Releases are made on Mondays.");
  const [result = ""] = answered === undefined ? [] : resultsOf(answered);
  expect(result).not.toContain("Tag it, then publish it.");
  expect(result).toContain("release");
});

test("a fold brings documents and memory up to date; what it says is not said twice", async () => {
  const agent = createAgent({ steps: 0 });
  const { place, prompts } = await makeStage(
    agent,
    "context_optimization: { workspace_cache: { enabled: false }, compaction: { tail_keep_tokens: 1000 } }",
  );
  const { engine } = await start(place);
  const session = await engine.open({ id: "s" });
  for (let turn = 0; turn < 8; turn += 1) {
    await session.run(`Turn ${turn}: ${"words and more words. ".repeat(400)}`).result;
  }
  place.put(".strata/MEMORY.md", "Uses pnpm.\n");
  place.put("AGENTS.md", "Run nothing.\n");
  await session.run("Short.").result;
  const before = prompts.at(-1);
  expect(before?.system).toContain("Run the tests before you answer.");
  expect(before === undefined ? "" : lastWords(before)).toContain("+ Uses pnpm.");
  const compaction = await session.compact();
  expect(compaction.kind).toBe("compacted");
  await session.run("Short again.").result;
  const after = prompts.at(-1);
  expect(after?.system).toContain("Run nothing.");
  expect(after?.system).toContain("Uses pnpm.");
  expect(after === undefined ? "" : lastWords(after)).not.toContain("Memory has changed");
});

test("a worker has no memory tools, and what others see of a shared session is without MEMORY.md", async () => {
  const { place, prompts } = await makeStage([{ text: "Done." }], "memory: { scope: shared }");
  const { engine } = await start(place, { role: "worker" });
  const session = await engine.open();
  await session.run("Look around.").result;
  const names = prompts[0]?.tools.map(({ name }) => name) ?? [];
  expect(names.filter((name) => name.startsWith("memory_"))).toEqual([]);
  expect(names).toContain("read");
  expect(prompts[0]?.system).not.toContain("Uses npm.");
  expect(session.session.toolsLeft).toContainEqual({
    name: "memory_add",
    reason: "not for the role worker",
  });
});

test("a USER.md beside the sources is a document, until memory has one", async () => {
  const { place, prompts } = await makeStage([{ text: "Hello." }, { text: "Hello." }]);
  place.put("USER.md", "Ana likes short answers.\n");
  const { engine } = await start(place);
  const first = await engine.open();
  await first.run("Hello.").result;
  expect(prompts[0]?.system).toContain("## USER.md\n\nAna likes short answers.");
  expect(JSON.stringify(prompts[0]?.turns)).not.toContain("Memory has changed");
  place.put(".strata/USER.md", "Ana likes long answers.\n");
  await (await engine.open()).run("Hello.").result;
  expect(prompts[1]?.system).toContain("## User context (USER.md)\n\nAna likes long answers.");
  expect(prompts[1]?.system).not.toContain("short answers");
});

test.each([
  ["runs where somebody allows it", true, "hello"],
  ["is refused where nobody can be asked", undefined, "the user did not allow this"],
])("a command %s", async (_name, answer, expected) => {
  const steps = [
    { toolCalls: [{ name: "bash", input: { command: "echo hel''lo" } }] },
    { text: "Done." },
  ];
  const { place, prompts } = await makeStage(steps, "tools: { toolset: full, bash: true }");
  const confirm = answer === undefined ? {} : { confirm: () => Promise.resolve(answer) };
  const { engine } = await start(place, confirm);
  await (await engine.open()).run("Say hello.").result;
  const last = prompts.at(-1);
  expect(last === undefined ? "" : resultsOf(last).join()).toContain(expected);
});

test("M-04: under metis the system prompt ends with USER.md and MEMORY.md as they are now, and with nothing if both are empty", async () => {
  const place = makePlace();
  const systems: (readonly string[])[] = [];
  const { url } = await serve({}, (_headers, body) => {
    const { system } = JSON.parse(body) as { system: readonly { text: string }[] };
    systems.push(system.map(({ text }) => text));
  });
  place.put("AGENTS.md", "Answer briefly.\n");
  place.configure(
    `models: { default: claude-haiku-4-5 }
policies: { default: metis }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`,
  );
  const { engine } = await start(place);
  const session = await engine.session("s");
  await session.run("Hello.").result;
  place.put(".strata/USER.md", "Kim likes tea.\n");
  place.put(".strata/MEMORY.md", "The port is 8080.\n");
  await session.run("And now?").result;
  const [first = [], second = []] = systems;
  expect(first).toHaveLength(1);
  expect(second.slice(0, -1)).toEqual(first);
  expect(second.at(-1)).toBe(
    "## User context (USER.md)\n\nKim likes tea.\n\n## Workspace memory (MEMORY.md)\n\nThe port is 8080.",
  );
});
