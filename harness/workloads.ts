// Three scripted agent tasks: user messages, replies of the model, results of tools.
import type { PaceKind } from "../src/core/cache/pace.ts";
import { createConversation } from "./conversation.ts";

export interface Workload {
  readonly name: string;
  /** The pace an application would declare: a person between turns, or an agent that works to the end. */
  readonly pace: PaceKind;
  readonly turns: readonly WorkTurn[];
}

export interface WorkTurn {
  /** Time since the last turn ended. */
  readonly afterSeconds: number;
  readonly say: string;
  /** One per call; the last uses no tool. */
  readonly steps: readonly WorkStep[];
}

export interface WorkStep {
  readonly text: string;
  readonly tools: readonly WorkTool[];
}

export interface WorkTool {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
}

export const workloads: readonly Workload[] = [
  {
    name: "fix a small bug",
    pace: "tool loop",
    turns: [
      {
        afterSeconds: 0,
        say: "The parser drops the last line of a file without a line end. Find out why and mend it.",
        steps: [
          use("I look around first.", "list", { path: "src" }, 600),
          use("The reader is the place to look.", "read", { path: "src/reader.ts" }, 2_400),
          use("Who calls it?", "grep", { pattern: "readLines" }, 900),
          use("The last piece is never pushed.", "edit", { path: "src/reader.ts", line: 41 }, 120),
          use("I run the tests.", "bash", { command: "npm test" }, 1_500),
          done("The last line was only pushed when a line end followed; now it is pushed always."),
        ],
      },
    ],
  },
  {
    name: "multi-turn refactor",
    pace: "human",
    turns: Array.from({ length: 9 }, (_, turn) => ({
      afterSeconds: turn === 0 ? 0 : turn === 5 ? 720 : 75,
      say: `Step ${turn + 1} of the refactoring: move what belongs to module ${turn} out of main.ts.`,
      steps: [
        use("I read what is there.", "read", { path: "src/main.ts", from: turn * 80 }, 4_000),
        use("And who uses it.", "grep", { pattern: `module${turn}` }, 1_200),
        use("I write the new module.", "write", { path: `src/module-${turn}.ts` }, 200),
        use("I take it out of the old place.", "edit", { path: "src/main.ts" }, 200),
        use("I run the tests.", "bash", { command: "npm test" }, 1_800),
        done(`Module ${turn} stands on its own, and the tests pass.`),
      ],
    })),
  },
  {
    name: "write a doc from notes",
    pace: "human",
    turns: [
      {
        afterSeconds: 0,
        say: "Write docs/design.md from the three files in notes/.",
        steps: [
          use("I read the notes.", "read", { path: "notes/1.md" }, 9_000),
          use("The second.", "read", { path: "notes/2.md" }, 7_000),
          use("The third.", "read", { path: "notes/3.md" }, 5_000),
          use("I write it down.", "write", { path: "docs/design.md" }, 150),
          done("The document is there: context, decision, consequences."),
        ],
      },
      {
        afterSeconds: 240,
        say: "Shorter, and the decision first.",
        steps: [
          use("I look at it once more.", "read", { path: "docs/design.md" }, 3_000),
          use("I write it anew.", "write", { path: "docs/design.md" }, 150),
          done("It begins with the decision and is half as long."),
        ],
      },
      {
        afterSeconds: 420,
        say: "Add who decided, and when.",
        steps: [
          use("The notes say it.", "grep", { pattern: "decided" }, 700),
          use("I add it.", "edit", { path: "docs/design.md" }, 120),
          done("Both are in the first lines."),
        ],
      },
    ],
  },
];

function use(
  text: string,
  name: string,
  input: Readonly<Record<string, unknown>>,
  characters: number,
): WorkStep {
  const seed = characters + name.length;
  const filler = createConversation(2 + Math.ceil(characters / 400), seed)
    .flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")))
    .join("\n");
  return { text, tools: [{ name, input, result: filler.slice(0, characters) }] };
}

function done(text: string): WorkStep {
  return { text, tools: [] };
}
