import { describe, expect, test } from "vitest";
import type { Prompt, PromptTool, PromptTurn, Reply } from "../prompt.ts";
import { createAgent, type AgentOptions } from "./agent.ts";

// Goal: any client's loop runs and ends. Method: play the client, with the tools real ones offer.
const kits: Readonly<Record<string, readonly PromptTool[]>> = {
  "Claude Code": [
    tool("Task", { prompt: "string" }),
    tool("Bash", { command: "string", description: "string", timeout: "number" }, ["command"]),
    tool("Glob", { pattern: "string", path: "string" }, ["pattern"]),
    tool("Grep", { pattern: "string", path: "string", "-n": "boolean" }, ["pattern"]),
    tool("Read", { file_path: "string", offset: "number", limit: "number" }, ["file_path"]),
    tool("Edit", { file_path: "string", old_string: "string", new_string: "string" }),
    tool("Write", { file_path: "string", content: "string" }),
    tool("WebFetch", { url: "string", prompt: "string" }),
  ],
  "Codex in code mode": [
    { name: "exec", description: "Runs raw JavaScript.", inputSchema: null },
    tool("wait", { cell_id: "string" }),
    { name: "apply_patch", description: "Edits files.", inputSchema: null },
  ],
  "Codex on older models": [
    tool("shell", { command: "strings", workdir: "string", timeout_ms: "number" }, ["command"]),
    tool("update_plan", { plan: "strings" }),
    tool("view_image", { path: "string" }),
  ],
  pi: [
    tool("read", { path: "string", offset: "number" }, ["path"]),
    tool("bash", { command: "string", timeout: "number" }, ["command"]),
    tool("edit", { path: "string", oldText: "string", newText: "string" }),
    tool("write", { path: "string", content: "string" }),
  ],
};

function tool(
  name: string,
  properties: Readonly<Record<string, string>>,
  required: readonly string[] = Object.keys(properties),
): PromptTool {
  const spelled = Object.entries(properties).map(([key, type]) => [
    key,
    type === "strings" ? { type: "array", items: { type: "string" } } : { type },
  ]);
  return {
    name,
    description: "",
    inputSchema: { type: "object", properties: Object.fromEntries(spelled), required },
  };
}

const question = user("Why is the build of this project red?");

function user(text: string): PromptTurn {
  return { role: "user", text, toolUses: [], toolResults: [] };
}

function prompt(tools: readonly PromptTool[], turns: readonly PromptTurn[]): Prompt {
  return {
    model: "claude-sonnet-5-5",
    wants: "reply",
    instructions: null,
    system: "You are an agent.\nWorking directory: /srv/app\n",
    tools,
    turns,
    outputTokensMax: 4096,
    thinks: false,
    toolChoice: "auto",
  };
}

interface Session {
  readonly calls: readonly { readonly name: string; readonly input: unknown }[][];
  readonly answer: string;
}

type Run = (name: string, input: unknown) => { readonly text: string; readonly isError: boolean };

/** Plays a client until the model answers without tools. */
function play(
  tools: readonly PromptTool[],
  run: Run,
  options: AgentOptions & { change?: (turns: PromptTurn[]) => PromptTurn[] } = {},
): Session {
  const model = createAgent(options);
  let turns: PromptTurn[] = [question];
  const calls: { name: string; input: unknown }[][] = [];
  for (let step = 0; step < 100; step += 1) {
    const { parts, stop } = model(prompt(tools, turns));
    const uses = parts.flatMap((part) => (part.kind === "tool use" ? [part] : []));
    const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
    expect(stop).toBe(uses.length > 0 ? "tool use" : "end");
    if (uses.length === 0) return { calls, answer: text };
    calls.push(uses.map(({ name, inputJson }) => ({ name, input: JSON.parse(inputJson) })));
    const toolUses = uses.map(({ name, inputJson }, index) => ({
      id: `${step}-${index}`,
      name,
      inputJson,
    }));
    const toolResults = toolUses.map(({ id, name, inputJson }) => ({
      id,
      ...run(name, JSON.parse(inputJson)),
    }));
    turns = [
      ...turns,
      { role: "assistant", text, toolUses, toolResults: [] },
      { role: "user", text: "", toolUses: [], toolResults },
    ];
    turns = options.change?.(turns) ?? turns;
  }
  throw new Error("the agent does not end");
}

const listing: Run = () => ({
  text: "README.md\npackage.json\nsrc/index.ts\nsrc/build.ts\n.env\n",
  isError: false,
});
const failing: Run = () => ({ text: "permission denied", isError: true });

/** Commands that only read. */
const harmless =
  /^(?:ls|pwd|head -n 60 [\w./-]+|grep -n [a-z]+ [\w./-]+|find \. -maxdepth 2 -type f -not -path '\*\/\.\*' \| head -n 40)$/;

function commandsOf({ calls }: Session): string[] {
  return calls.flat().flatMap(({ input }) => {
    if (typeof input === "string") {
      return [/"cmd":("(?:[^"\\]|\\.)*")/.exec(input)?.[1] ?? ""].map(
        (text) => JSON.parse(text) as string,
      );
    }
    const { command, cmd } = input as { command?: string | string[]; cmd?: string };
    const given = command ?? cmd;
    return given === undefined ? [] : [Array.isArray(given) ? (given[2] ?? "") : given];
  });
}

describe.each(Object.entries(kits))("with the tools of %s", (_name, tools) => {
  test("it takes its steps, then answers", () => {
    const session = play(tools, listing);
    expect(session.calls).toHaveLength(6);
    expect(session.answer).toContain("Why is the build of this project red?");
    expect(session.answer).toContain("I took 6 steps with tools.");
  });

  test("it ends when every tool fails", () => {
    expect(play(tools, failing).calls).toHaveLength(6);
  });

  test("it only looks, whatever the seed", () => {
    const allowed = /^(?:Bash|Glob|Grep|Read|exec|shell|read|bash)$/;
    for (let seed = 0; seed < 50; seed += 1) {
      const session = play(tools, listing, { seed });
      for (const { name } of session.calls.flat()) expect(name).toMatch(allowed);
      for (const command of commandsOf(session)) expect(command).toMatch(harmless);
      expect(JSON.stringify(session.calls)).not.toContain(".env");
    }
  });

  test("it does the same for the same seed, and other things for another", () => {
    expect(play(tools, listing, { seed: 3 })).toEqual(play(tools, listing, { seed: 3 }));
    const sessions = new Set(
      [1, 2, 3, 4, 5].map((seed) => JSON.stringify(play(tools, listing, { seed }))),
    );
    expect(sessions.size).toBeGreaterThan(2);
  });
});

test("it reads files it saw, where the client's tool wants them", () => {
  const session = play(kits["Claude Code"] ?? [], listing, { steps: 12 });
  const read = session.calls.flat().filter(({ name }) => name === "Read");
  expect(read.length).toBeGreaterThan(1);
  for (const { input } of read) {
    expect(input).toEqual({
      file_path: expect.stringMatching(/^\/srv\/app\/(README\.md|package\.json|src\/\w+\.ts)$/),
    });
  }
});

test("it writes the JavaScript that Codex runs", () => {
  const [[first] = []] = play(kits["Codex in code mode"] ?? [], listing).calls;
  expect(first).toEqual({
    name: "exec",
    input:
      'const result = await tools.exec_command({"cmd":"ls"});\ntext(result.output ?? result);\n',
  });
});

test("it spells a command as words where the tool takes words", () => {
  const [[first] = []] = play(kits["Codex on older models"] ?? [], listing).calls;
  expect(first?.input).toEqual({ command: ["bash", "-lc", "ls"] });
});

test("it sometimes uses two tools in one reply", () => {
  const sizes = Array.from({ length: 20 }, (_, seed) =>
    play(kits["pi"] ?? [], listing, { seed }).calls.map((calls) => calls.length),
  ).flat();
  expect(new Set(sizes)).toEqual(new Set([1, 2]));
  expect(sizes.filter((size) => size === 2).length).toBeGreaterThan(10);
});

test("a user message after every tool result does not make it start over", () => {
  const session = play(kits["pi"] ?? [], listing, {
    change: (turns) => [...turns, user("Active sessions: none")],
  });
  expect(session.calls).toHaveLength(6);
});

test("a client that compacts after every step does not make it start over", () => {
  const model = createAgent();
  const session = play(kits["pi"] ?? [], listing, {
    change: (turns) => {
      const summary = model({ ...prompt([], turns), wants: "summary" });
      return [question, user(textOf(summary))];
    },
  });
  expect(session.calls).toHaveLength(6);
});

test("the next question is worked on anew", () => {
  const model = createAgent({ steps: 1 });
  const tools = kits["pi"] ?? [];
  const first: PromptTurn[] = [
    question,
    {
      role: "assistant",
      text: "",
      toolUses: [{ id: "1", name: "bash", inputJson: '{"command":"ls"}' }],
      toolResults: [],
    },
    {
      role: "user",
      text: "",
      toolUses: [],
      toolResults: [{ id: "1", text: "a.ts", isError: false }],
    },
  ];
  expect(model(prompt(tools, first)).stop).toBe("end");
  const answered: PromptTurn = { role: "assistant", text: "Done.", toolUses: [], toolResults: [] };
  expect(model(prompt(tools, [...first, answered, user("And the tests?")])).stop).toBe("tool use");
});

test("tools that are not for files are tried once each", () => {
  const session = play(
    [tool("get_weather", { city: "string" }), tool("add", { a: "number" })],
    listing,
  );
  expect(session.calls).toEqual([
    [{ name: "get_weather", input: { city: "sample city" } }],
    [{ name: "add", input: { a: 1 } }],
  ]);
});

test("a tool it does not know is called once beside those for files, by its schema", () => {
  const unknown = [
    tool("get_weather", { city: "string" }),
    tool("search_orders", { query: "string", limit: "integer" }, ["query"]),
    tool("kubectl", { command: "string" }),
    tool("ledger_entry", { content: "string" }),
  ];
  for (let seed = 0; seed < 20; seed += 1) {
    const session = play([...(kits["pi"] ?? []), ...unknown], listing, { seed });
    expect(session.calls).toHaveLength(6);
    const names = unknown.map(({ name }) => name);
    expect(session.calls.flat().filter(({ name }) => names.includes(name))).toEqual([
      { name: "get_weather", input: { city: "sample city" } },
      { name: "search_orders", input: { query: "sample query" } },
      { name: "kubectl", input: { command: "pwd" } },
    ]);
  }
});

test("with nothing to look for, it begins with the tool it does not know", () => {
  const read = tool("read", { path: "string" });
  const [first] = play([read, tool("get_weather", { city: "string" })], listing).calls;
  expect(first).toEqual([{ name: "get_weather", input: { city: "sample city" } }]);
});

test("without a tool that is safe to use it answers directly", () => {
  expect(play([], listing).calls).toEqual([]);
  expect(play([tool("Write", { file_path: "string" })], listing).calls).toEqual([]);
});

describe("a client that insists", () => {
  const tools = kits["Claude Code"] ?? [];

  test("on no tool gets none", () => {
    const reply = createAgent()({ ...prompt(tools, [question]), toolChoice: "none" });
    expect(reply.stop).toBe("end");
  });

  test("on one by name gets that one", () => {
    for (const name of ["Grep", "Write"]) {
      const reply = createAgent()({ ...prompt(tools, [question]), toolChoice: { name } });
      expect(reply.parts.at(-1)).toMatchObject({ kind: "tool use", name });
    }
  });

  test("on any gets one, however many steps there were", () => {
    const reply = createAgent({ steps: 0 })({ ...prompt(tools, [question]), toolChoice: "any" });
    expect(reply.stop).toBe("tool use");
  });
});

test("it thinks where it is to think", () => {
  const reply = createAgent()({ ...prompt(kits["pi"] ?? [], [question]), thinks: true });
  expect(reply.parts[0]?.kind).toBe("thinking");
});

test("asked for a summary of the conversation, it summarises and uses no tool", () => {
  const reply = createAgent()(
    prompt(kits["pi"] ?? [], [
      question,
      user("Your task is to create a detailed summary of the conversation so far."),
    ]),
  );
  expect(textOf(reply)).toContain("Why is the build of this project red?");
  expect(reply.stop).toBe("end");
});

function textOf({ parts }: Reply): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}
