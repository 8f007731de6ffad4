// What begins with a slash is for the chat and not for the agent.
import { nearestNames } from "../../core/nearest-names.ts";

export interface SlashSpec {
  readonly name: string;
  /** What may follow it. */
  readonly rest: string;
  readonly meaning: string;
  /** Whether it waits until no turn runs. */
  readonly needsIdle: boolean;
}

export const slashSpecs: readonly SlashSpec[] = [
  { name: "help", rest: "", meaning: "this list", needsIdle: false },
  {
    name: "model",
    rest: "[ID]",
    meaning: "the model; with an id, go on with another one in the same session",
    needsIdle: true,
  },
  { name: "cost", rest: "", meaning: "what was paid and what caching saved", needsIdle: false },
  { name: "context", rest: "", meaning: "what fills the window, by tier", needsIdle: false },
  {
    name: "compact",
    rest: "[FOCUS]",
    meaning: "shorten the conversation now; FOCUS is what to keep",
    needsIdle: true,
  },
  { name: "memory", rest: "", meaning: "what the agent remembers here", needsIdle: false },
  { name: "skills", rest: "", meaning: "skills of this workspace", needsIdle: false },
  {
    name: "sessions",
    rest: "[ID]",
    meaning: "the latest sessions; with an id, go on with that one",
    needsIdle: true,
  },
  {
    name: "fork",
    rest: "[NAME]",
    meaning: "a new session that goes on from here; this one stays as it is",
    needsIdle: true,
  },
  { name: "quit", rest: "", meaning: "end; the session can be resumed", needsIdle: false },
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
  const hint = near === undefined ? "/help lists what there is." : `did you mean /${near}?`;
  const text = `There is no /${name}; ${hint} A space before the slash says it to the agent.`;
  return { kind: "unknown", text };
}

export function renderHelp(): string {
  const rows = slashSpecs.map(
    ({ name, rest, meaning }) => [`/${name}${rest === "" ? "" : ` ${rest}`}`, meaning] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    ...rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`),
    "",
    "Enter sends, Alt-Enter begins a new line, ↑ and ↓ bring back what was typed.",
    "What is typed while the agent works is said to it with its next call.",
    "Ctrl-C stops the turn; twice, or Ctrl-D on an empty line, quits.",
  ].join("\n");
}
