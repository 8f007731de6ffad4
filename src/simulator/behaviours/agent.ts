// agent: acts like a coding agent with the client's tools. It only reads, and it always finishes.
import { drawOf } from "../ids.ts";
import type { Model, Prompt, PromptTool, PromptTurn, Reply, ReplyPart } from "../prompt.ts";
import { findFolder, findPaths } from "./find-paths.ts";
import { canFill, forcedCall, toCall, type Wishes } from "./sample-input.ts";
import { asksForSummary, lastQuestion, shorten, stepsIn, summarise } from "./summariser.ts";
import * as kinds from "./tool-kinds.ts";

export interface AgentOptions {
  /** Different seeds take different steps. */
  readonly seed?: number;
  /** Steps with tools before the final answer. */
  readonly steps?: number;
}

/** Stateless: everything it needs is in the prompt, so one agent can serve many conversations. */
export function createAgent({ seed = 1, steps = 6 }: AgentOptions = {}): Model {
  return (prompt) => {
    if (prompt.wants === "summary" || asksForSummary(prompt)) return summarise(prompt);
    const run = currentRun(prompt.turns);
    const step = stepsIn(run);
    const isForced = prompt.toolChoice !== "auto" && prompt.toolChoice !== "none";
    const mayGoOn = prompt.toolChoice !== "none" && (step < steps || isForced);
    const draw = (what: string): number =>
      drawOf([seed, step, what, lastQuestion(prompt)].join("\n"));
    const calls = mayGoOn ? chooseCalls({ prompt, run, step, draw }) : [];
    return calls.length === 0 ? conclude(prompt, run, step) : callTools(prompt, calls, draw);
  };
}

interface Situation {
  readonly prompt: Prompt;
  /** The turns since the last answer without tools. */
  readonly run: readonly PromptTurn[];
  readonly step: number;
  readonly draw: (what: string) => number;
}

/** User messages do not end a run: some clients add one after every tool result. */
function currentRun(turns: readonly PromptTurn[]): readonly PromptTurn[] {
  const answered = turns.findLastIndex(
    ({ role, toolUses }) => role === "assistant" && toolUses.length === 0,
  );
  return turns.slice(answered + 1);
}

function chooseCalls(situation: Situation): readonly ReplyPart[] {
  const { prompt, run, step, draw } = situation;
  const { toolChoice, tools } = prompt;
  const kit: Kit = Object.groupBy(tools, kinds.kindOf);
  const named = typeof toolChoice === "object" ? toolChoice.name : null;
  if (kit.unsafe?.some(({ name }) => name === named) === true) {
    return toList(forcedCall(prompt));
  }
  const allowed = tools.filter(({ name }) => named === null || name === named);
  const usable: Kit = Object.groupBy(allowed, kinds.kindOf);
  const hands = createHands(usable, findFolder(prompt));
  const other = callOther(usable.other ?? [], run);
  const looking = hands === null ? [] : look(hands, situation, step, draw);
  const calls = step === 0 && looking.length > 0 ? looking : toList(...looking, other);
  return calls.length > 0 ? calls : toList(forcedCall(prompt));
}

/** Each tool that is for nothing the agent knows is called once, if its schema can be met without doing harm. */
function callOther(others: readonly PromptTool[], run: readonly PromptTurn[]): ReplyPart | null {
  const used = new Set(run.flatMap(({ toolUses }) => toolUses.map(({ name }) => name)));
  const next = others.find((tool) => !used.has(tool.name) && canFill(tool, harmless));
  return next === undefined ? null : toCall(next, harmless);
}

/** Values that change nothing, whatever the tool does with them. */
const harmless: Wishes = {
  ...all(kinds.shellProperties, "pwd"),
  ...all(kinds.folderProperties, "."),
  code: "1",
  sql: "select 1",
};

/** Calls the agent can make with the client's tools; each is null if no tool fits. */
interface Hands {
  list(): ReplyPart | null;
  read(path: string): ReplyPart | null;
  search(word: string): ReplyPart | null;
  shell(command: string, meaning: string): ReplyPart | null;
}

type Kit = Partial<Record<kinds.ToolKind, readonly PromptTool[]>>;

/** Null without a tool for reading files. */
function createHands(
  { read, list, search, shell, script }: Kit,
  folder: string | null,
): Hands | null {
  if ([read, list, search, shell, script].every((tools) => tools === undefined)) return null;
  const place = folder ?? ".";
  return {
    list: () => callFirst(list, { ...all(kinds.folderProperties, place), ...everyFile }),
    read: (path) => {
      const isAbsolute = folder === null || path.startsWith("/");
      return callFirst(read, all(kinds.pathProperties, isAbsolute ? path : `${folder}/${path}`));
    },
    search: (word) =>
      callFirst(search, {
        ...all(kinds.folderProperties, place),
        ...all(kinds.patternProperties, word),
      }),
    shell: (command, meaning) => {
      if (shell?.[0] !== undefined) return shellCall(shell[0], command, meaning, place);
      return script?.[0] === undefined ? null : scriptCall(script[0], command);
    },
  };
}

function callFirst(tools: readonly PromptTool[] | undefined, wishes: Wishes): ReplyPart | null {
  const tool = tools?.[0];
  return tool === undefined ? null : toCall(tool, wishes);
}

const everyFile: Wishes = { pattern: "*", glob: "*", glob_pattern: "*" };

function shellCall(tool: PromptTool, command: string, meaning: string, place: string): ReplyPart {
  const wishes = { ...all(kinds.shellProperties, command), description: meaning };
  const call = toCall(tool, { ...wishes, workdir: place, cwd: place });
  const spelled = call.kind === "tool use" && call.inputJson.includes(JSON.stringify(command));
  // Some shell tools take a list of words instead of a line.
  const words = all(kinds.shellProperties, ["bash", "-lc", command]);
  return spelled && !call.inputJson.includes(`[${JSON.stringify(command)}]`)
    ? call
    : toCall(tool, { ...words, description: meaning });
}

function scriptCall(tool: PromptTool, command: string): ReplyPart {
  const script = `const result = await tools.exec_command(${JSON.stringify({ cmd: command })});\ntext(result.output ?? result);\n`;
  return { kind: "tool use", name: tool.name, inputJson: JSON.stringify(script) };
}

function all(names: readonly string[], value: unknown): Wishes {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** First lists files, then reads them, sometimes two in one reply. */
function look(
  hands: Hands,
  { run, prompt }: Situation,
  step: number,
  draw: Situation["draw"],
): readonly ReplyPart[] {
  const results = run.flatMap(({ toolResults }) => toolResults.filter((each) => !each.isError));
  const seen = [...new Set(results.flatMap(({ text }) => findPaths(text)))];
  const done = run.flatMap(({ toolUses }) => toolUses.map(({ inputJson }) => inputJson));
  const unread = seen.filter((path) => !done.some((input) => input.includes(path)));
  const file = unread[Math.floor(draw("file") * unread.length)];
  const list = (): ReplyPart | null =>
    hands.list() ?? hands.shell(step === 0 ? "ls" : findCommand, "List files");
  const read = (path: string | undefined): ReplyPart | null =>
    path === undefined
      ? null
      : (hands.read(path) ?? hands.shell(`head -n 60 ${path}`, `Read ${path}`));
  const search = (): ReplyPart | null => {
    const word = pickWord([lastQuestion(prompt), ...results.map(({ text }) => text)], draw("word"));
    const found = hands.search(word);
    return found ?? (file === undefined ? null : hands.shell(`grep -n ${word} ${file}`, "Search"));
  };
  const where = (): ReplyPart | null => hands.shell("pwd", "Show the working directory");

  if (step === 0) return toList(list() ?? where() ?? search(), draw("also") < 0.5 ? where() : null);
  const isReading = draw("kind") < 0.7;
  const main = (isReading ? read(file) : search()) ?? read(file) ?? search() ?? list() ?? where();
  const second = draw("also") < 0.3 ? read(unread.find((path) => path !== file)) : null;
  return toList(main, second);
}

/** One level deeper, if the first listing showed only folders. */
const findCommand = "find . -maxdepth 2 -type f -not -path '*/.*' | head -n 40";

function toList(...calls: readonly (ReplyPart | null)[]): readonly ReplyPart[] {
  return calls.filter((call) => call !== null);
}

function pickWord(texts: readonly string[], draw: number): string {
  const words =
    texts
      .join("\n")
      .slice(-20_000)
      .match(/\b[a-z]{4,16}\b/g) ?? [];
  return words[Math.floor(draw * words.length)] ?? "main";
}

function callTools(prompt: Prompt, calls: readonly ReplyPart[], draw: Situation["draw"]): Reply {
  const used = calls.flatMap((call) => (call.kind === "tool use" ? [call.name] : []));
  const names = [...new Set(used)];
  const thought = `Next I use ${names.join(" and ")}, then look at what comes back.`;
  const parts: ReplyPart[] = [...calls];
  if (draw("say") < 0.5)
    parts.unshift({ kind: "text", text: `Let me use ${names.join(" and ")}.` });
  if (prompt.thinks) parts.unshift({ kind: "thinking", text: thought });
  return { parts, stop: "tool use" };
}

function conclude(prompt: Prompt, run: readonly PromptTurn[], step: number): Reply {
  const results = run.flatMap(({ toolResults }) => toolResults);
  const files = [...new Set(results.flatMap(({ text }) => findPaths(text)))].slice(0, 8);
  const last = results.at(-1);
  const sentences = [
    `I have looked into this: ${shorten(lastQuestion(prompt), 160) || "nothing was asked"}`,
    step === 0 ? "I used no tool." : `I took ${step} steps with tools.`,
    ...(files.length === 0 ? [] : [`Files I came across: ${files.join(", ")}.`]),
    ...(last === undefined ? [] : [`The last result was: ${shorten(last.text, 160)}`]),
  ];
  const parts: ReplyPart[] = [{ kind: "text", text: sentences.join("\n") }];
  if (prompt.thinks) parts.unshift({ kind: "thinking", text: "I have seen enough to answer." });
  return { parts, stop: "end" };
}
