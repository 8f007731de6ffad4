// The slash commands: input for the chat, not for the agent.
import { hang } from "../../table.ts";
import { nearestNames } from "../../../core/nearest-names.ts";

export interface SlashSpec {
  readonly name: string;
  readonly operand?: string;
  readonly meaning: string;
  /** Whether it can run only between turns. */
  readonly needsIdle?: boolean;
}

export const slashSpecs: readonly SlashSpec[] = [
  { name: "help", meaning: "this list" },
  {
    name: "model",
    operand: "[ID]",
    meaning: "show the model; with an id, switch this session to another one",
    needsIdle: true,
  },
  { name: "cost", meaning: "the cost, and what caching saved" },
  { name: "context", meaning: "what fills the window, by tier" },
  {
    name: "compact",
    operand: "[FOCUS]",
    meaning: "compact the conversation now; FOCUS is what to keep",
    needsIdle: true,
  },
  { name: "memory", meaning: "what the agent remembers here" },
  { name: "skills", meaning: "skills of this workspace" },
  {
    name: "sessions",
    operand: "[ID]",
    meaning: "list the latest sessions; with an id, switch to that one",
    needsIdle: true,
  },
  {
    name: "fork",
    operand: "[NAME]",
    meaning: "continue in a new session; this one stays unchanged",
    needsIdle: true,
  },
  {
    name: "new",
    meaning: "begin a new conversation; this one can be resumed",
    needsIdle: true,
  },
  { name: "clear", meaning: "clear the screen; the conversation goes on" },
  { name: "quit", meaning: "quit; the session can be resumed" },
];

export type Typed =
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "command"; readonly spec: SlashSpec; readonly rest: string }
  | { readonly kind: "unknown"; readonly text: string };

export function readTyped(line: string): Typed {
  const match = /^\/([a-z]*)(?:\s+(.*))?$/isu.exec(line.trimEnd());
  if (match === null) return { kind: "words", text: line.trim() };
  const [, word = "", rest = ""] = match;
  const name = word.toLowerCase();
  const spec = slashSpecs.find((each) => each.name === (name === "exit" ? "quit" : name));
  if (spec !== undefined) return { kind: "command", spec, rest: rest.trim() };
  const names = slashSpecs.map((each) => each.name);
  const [near] = nearestNames(name, names, 1);
  const hint = near === undefined ? "/help lists the commands." : `did you mean /${near}?`;
  const text = `There is no /${name}; ${hint} To send it to the agent, put a space before the slash.`;
  return { kind: "unknown", text };
}

export function renderHelp(): string {
  const rows = slashSpecs.map(
    ({ name, operand, meaning }) => [`/${name} ${operand ?? ""}`.trimEnd(), meaning] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    ...rows.flatMap(([left, right]) => hang(`${left.padEnd(width)}  `, width + 2, right)),
    "",
    "Enter sends, Alt-Enter begins a new line, ↑ and ↓ show earlier input, Tab completes.",
    "@path sends a file of the workspace, or an image, with the message.",
    "!command runs a command here as you; the agent gets its output with your next message.",
    "What you type while the agent works is sent with its next call.",
    "Ctrl-C stops the turn; twice, or Ctrl-D on an empty line, quits.",
  ].join("\n");
}
