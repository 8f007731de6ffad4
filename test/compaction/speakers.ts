// What the simulated model says, and the words that fill a window.
import { summarise } from "../../src/simulator/behaviours/summariser.ts";
import type { Model, Prompt, Reply } from "../../src/simulator/index.ts";

/** A model that answers every turn in a sentence. */
export const briefly: Model = (prompt) => reply(`Looked at it, step ${countAsks(prompt)} is done.`);

/** A summary of what it was shown, as it was asked for. */
export const writesSummaries: Model = summarise;

export function reply(text: string): Reply {
  return { parts: [{ kind: "text", text }], stop: "end" };
}

/** With tools, as many at once as inputs. */
export function callsTool(name: string, ...inputs: readonly object[]): Reply {
  return {
    parts: [
      { kind: "text", text: "Looking." },
      ...inputs.map((input) => ({
        kind: "tool use" as const,
        name,
        inputJson: JSON.stringify(input),
      })),
    ],
    stop: "tool use",
  };
}

/** The same with thoughts before it, where the model thinks. */
export function thinking(prompt: Prompt, said: Reply): Reply {
  if (!prompt.thinks) return said;
  return { ...said, parts: [{ kind: "thinking", text: "One step at a time." }, ...said.parts] };
}

/** Whether somebody just asked for something: the last message is no result of a tool. */
export function isAsked({ turns }: Prompt): boolean {
  const last = turns.findLast(({ role }) => role !== "system");
  return (last?.toolResults.length ?? 0) === 0;
}

function countAsks({ turns }: Prompt): number {
  return turns.filter(({ role, text }) => role === "user" && text !== "").length;
}

/** About so many tokens of plain words, the same for the same name. */
export function words(tokens: number, name: string): string {
  let state = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
  let text = "";
  while (text.length < tokens * charactersPerToken) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${vocabulary[state >>> 27] ?? "word"} `;
  }
  return text.trim();
}

/** As the tests' counter has it. */
const charactersPerToken = 4.8;

const vocabulary: readonly string[] =
  "the agent reads a plain note about trees and rivers while people walk along some quiet road with bread under their arms until evening comes home again where nobody waits for them".split(
    " ",
  );
