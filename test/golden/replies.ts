// What simulated models say in the scenarios.
import { createScripted, type Model, type Reply, type ScriptStep } from "./kit.ts";

export function script(...steps: readonly ScriptStep[]): () => Model {
  return () => createScripted(steps);
}

/** One tool after the other, by name and input. */
export function asks(
  text: string,
  ...toolCalls: readonly { readonly name: string; readonly input: object }[]
): ScriptStep {
  return { text, toolCalls };
}

export function look(path: string, more: object = {}): { name: string; input: object } {
  return { name: "look", input: { path, ...more } };
}

/** Every turn the same kind of answer, with its number. */
export function briefly(): Model {
  return ({ turns }) => {
    const asked = turns.filter(({ role, text }) => role === "user" && text !== "").length;
    return textReply(`Looked at it, step ${asked} is done.`);
  };
}

export function textReply(text: string): Reply {
  return { parts: [{ kind: "text", text }], stop: "end" };
}
