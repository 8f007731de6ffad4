// The agents of the demo: what each sends over a day, with every cause of a miss somewhere. A yielded number is a pause in milliseconds.
import {
  createDemoClient,
  say,
  type DemoClient,
  type DemoPrompt,
  type DemoTool,
} from "./demo-client.ts";
import { demoText } from "./demo-text.ts";

export interface DemoAgent {
  readonly startsMs: number;
  readonly steps: AsyncGenerator<number, void>;
}

const second = 1000;
const minute = 60_000;
const hour = 3_600_000;

export function demoAgents(url: string): readonly DemoAgent[] {
  return [
    { startsMs: 0, steps: watchQueue(url) },
    { startsMs: 5 * hour, steps: smallTalk(url) },
    { startsMs: 8 * hour, steps: triage(url) },
    { startsMs: 12 * hour, steps: fixFlakyTest(url) },
    { startsMs: 20 * hour, steps: writeDocs(url) },
    { startsMs: 21.5 * hour, steps: reviewMigration(url) },
    { startsMs: 22.8 * hour, steps: refactorBilling(url) },
  ];
}

const kit: readonly DemoTool[] = ["Bash", "Edit", "Glob", "Grep", "Read", "Write"].map(toTool);

function toTool(name: string): DemoTool {
  return {
    name,
    description: `${name}: ${demoText(name.length * 31, 160)}`,
    input_schema: {
      type: "object",
      properties: { path: { type: "string" }, pattern: { type: "string" } },
    },
  };
}

function openAgent(url: string, name: string, own: Partial<DemoPrompt> = {}): DemoClient {
  return createDemoClient(url, {
    model: "claude-sonnet-4-6",
    system: `You work on the repository ${name}.\n${demoText(name.length, 2600)}`,
    tools: kit,
    messages: [],
    more: {},
    headers: {
      "user-agent": "claude-cli/2.1.325 (external, cli)",
      "x-claude-code-session-id": name,
    },
    lifetime: "5m",
    isMarking: true,
    ...own,
  });
}

/** Calls with results of tools in between, seconds apart. */
async function* work(
  client: DemoClient,
  calls: number,
  seed: number,
): AsyncGenerator<number, void> {
  for (let index = 0; index < calls; index += 1) {
    const size = (seed + index) % 9 === 4 ? 6400 : 160 + ((seed * 37 + index * 211) % 1400);
    say(client.prompt, demoText(seed * 1000 + index, size));
    await client.call();
    yield (4 + ((seed + index * 7) % 22)) * second;
  }
}

/** A long day: tools that change and change places, a pause, a compaction by the client, a sub-agent, another model. */
async function* refactorBilling(url: string): AsyncGenerator<number, void> {
  const client = openAgent(url, "refactor-billing");
  const { prompt } = client;
  yield* work(client, 28, 1);
  prompt.tools = [...kit.slice(0, 3), toTool("mcp__db__explain"), ...kit.slice(3)];
  yield* work(client, 14, 2);
  yield 18 * minute;
  yield* work(client, 16, 3);
  yield* explore(url, "refactor-billing", 5);
  prompt.tools = prompt.tools.toReversed();
  yield* work(client, 8, 4);
  yield* summariseHistory(client);
  yield* work(client, 12, 5);
  prompt.model = "claude-opus-4-6";
  yield* work(client, 6, 6);
}

/** A sub-agent of the session, with tools and text of its own. */
async function* explore(url: string, session: string, calls: number): AsyncGenerator<number, void> {
  const client = openAgent(url, `${session}-explore`, {
    model: "claude-haiku-4-5",
    system: `You search and report.\n${demoText(77, 4300)}`,
    tools: kit.slice(2, 5),
    headers: {
      "user-agent": "claude-cli/2.1.325 (external, cli)",
      "x-claude-code-session-id": session,
      "x-claude-code-agent-id": "explore-1",
    },
  });
  yield* work(client, calls, 7);
}

/** The client replaces its history by a summary. */
async function* summariseHistory({ prompt }: DemoClient): AsyncGenerator<number, void> {
  prompt.messages = [];
  say(prompt, `This session goes on from an earlier one. Summary:\n${demoText(404, 1800)}`);
  prompt.messages.push({
    role: "assistant",
    content: [{ type: "text", text: "I go on from there." }],
  });
  yield 3 * second;
}

/** A clock in the system text: its first line changes with every question. */
async function* writeDocs(url: string): AsyncGenerator<number, void> {
  const client = openAgent(url, "docs-writer", {
    headers: { "user-agent": "opencode/1.18.33", "x-session-id": "docs-writer" },
  });
  const { prompt } = client;
  const rules = prompt.system;
  for (let question = 0; question < 6; question += 1) {
    prompt.system = `It is 13:${String(10 + question * 4)}.\n${rules}`;
    yield* work(client, 5, 20 + question);
    yield (question === 3 ? 7 : 2) * minute;
  }
  prompt.system = rules;
  yield* work(client, 10, 29);
}

/** Every six minutes, with lifetimes of five: each call finds nothing any more. */
async function* watchQueue(url: string): AsyncGenerator<number, void> {
  const client = openAgent(url, "queue-watcher", {
    model: "claude-haiku-4-5",
    headers: { "user-agent": "pi/0.87.1", "x-session-id": "queue-watcher" },
  });
  for (let round = 0; round < 40; round += 1) {
    say(client.prompt, `Look at the queue.\n${demoText(500 + round, 140)}`);
    await client.call();
    yield (round < 12 ? 6 : 3) * minute;
  }
}

/** Edits its own past, changes a setting, and adds more than the provider looks back over. */
async function* reviewMigration(url: string): AsyncGenerator<number, void> {
  const client = openAgent(url, "review-migration", { lifetime: "1h" });
  const { prompt } = client;
  yield* work(client, 12, 41);
  const [first] = prompt.messages;
  if (first !== undefined) {
    prompt.messages[0] = { ...first, content: [{ type: "text", text: demoText(999, 300) }] };
  }
  yield* work(client, 8, 42);
  prompt.more = { tool_choice: { type: "any" } };
  yield* work(client, 6, 43);
  yield 40 * minute;
  prompt.more = {};
  addMany(prompt, 24);
  yield* work(client, 5, 44);
  prompt.headers = { ...prompt.headers, "anthropic-beta": "context-1m-2025-08-07" };
  yield* work(client, 4, 45);
}

/** More blocks at once than are looked at for an earlier entry. */
function addMany(prompt: DemoPrompt, count: number): void {
  for (let index = 0; index < count; index += 1) {
    say(prompt, demoText(3000 + index, 60));
    prompt.messages.push({
      role: "assistant",
      content: [{ type: "text", text: demoText(4000 + index, 20) }],
    });
  }
}

/** Eight workers with the same beginning at the same moment: each writes it. */
async function* triage(url: string): AsyncGenerator<number, void> {
  for (let batch = 0; batch < 3; batch += 1) {
    const workers = Array.from({ length: 8 }, (_, index) =>
      openAgent(url, "triage", {
        system: `You sort tickets.\n${demoText(88, 5200)}`,
        headers: { "user-agent": "langchain/1.5", "x-session-id": `triage-${batch}-${index}` },
      }),
    );
    for (const [index, { prompt }] of workers.entries())
      say(prompt, demoText(600 + batch * 10 + index, 240));
    await Promise.all(workers.map(async (worker) => worker.call()));
    yield 45 * second;
    for (const worker of workers) {
      say(worker.prompt, demoText(700, 90));
      await worker.call();
    }
    yield 50 * minute;
  }
}

/** Prompts below what the provider keeps at all, and a client that marks nothing. */
async function* smallTalk(url: string): AsyncGenerator<number, void> {
  const client = openAgent(url, "greeter", {
    system: "You greet people.",
    tools: [],
    headers: { "user-agent": "anthropic-sdk", "x-session-id": "greeter" },
  });
  const plain = openAgent(url, "letters", {
    isMarking: false,
    headers: { "user-agent": "letta/0.25.9", "x-session-id": "letters" },
  });
  for (let round = 0; round < 8; round += 1) {
    for (const each of [client, plain]) {
      say(each.prompt, demoText(800 + round, 30));
      await each.call();
    }
    yield 90 * second;
  }
}

/** The usual case: short pauses, few losses. It goes on as long as the demo runs. */
async function* fixFlakyTest(url: string): AsyncGenerator<number, void> {
  for (let session = 0; ; session += 1) {
    const client = openAgent(url, `fix-flaky-test-${session + 1}`, { model: "claude-sonnet-5-5" });
    for (let part = 0; part < 4; part += 1) {
      yield* work(client, 14, 60 + session * 10 + part);
      yield 2 * minute;
    }
    yield 30 * minute;
  }
}
