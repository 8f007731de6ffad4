// The simulated model of the torture, and filler text.
import type { Random } from "../../harness/random-message.ts";
import {
  asksForSummary,
  lastUserText,
  summarise,
} from "../../src/simulator/behaviours/summariser.ts";
import type { Model, Prompt, Reply } from "../../src/simulator/index.ts";

/** Uses the read tool a few times if asked to read, even after a compaction; otherwise just answers. */
export const speak: Model = (prompt) => {
  if (prompt.wants === "summary" || asksForSummary(prompt)) return summarise(prompt);
  const last = prompt.turns.findLast(({ role }) => role !== "system");
  const isAnswered = (last?.toolResults.length ?? 0) > 0;
  const wantsMore = isAnswered ? !isLast(prompt) : lastUserText(prompt).includes("Read it.");
  const said: Reply = wantsMore
    ? {
        parts: [
          { kind: "text", text: "Looking." },
          { kind: "tool use", name: "read", inputJson: JSON.stringify({ path: "src/a.ts" }) },
        ],
        stop: "tool use",
      }
    : { parts: [{ kind: "text", text: "It is done, and nothing is wrong with it." }], stop: "end" };
  if (!prompt.thinks) return said;
  return { ...said, parts: [{ kind: "thinking", text: "One step at a time." }, ...said.parts] };
};

/** Depends only on the last result, so that a turn also ends after another node resumes it. True one time in four. */
function isLast({ turns }: Prompt): boolean {
  const results = turns.flatMap(({ toolResults }) => toolResults);
  return (results.at(-1)?.text.length ?? 0) % 4 === 0;
}

/** About that many tokens of plain words. */
export function createFiller(random: Random): (tokens: number) => string {
  return (tokens) => {
    let text = "";
    while (text.length < tokens * 4.8) {
      text += `${vocabulary[Math.floor(random() * vocabulary.length)] ?? ""} `;
    }
    return text.trim();
  };
}

const vocabulary =
  "agents read plain notes about src/tree.ts and port 4177 while people walk along some quiet road until evening comes home again".split(
    " ",
  );
