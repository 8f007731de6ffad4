import { expect, test } from "vitest";
import { readTyped, renderHelp, slashSpecs } from "./slash-words.ts";

test("a slash and a word is a command with its operand", () => {
  expect(readTyped("/model  claude-opus-5-5 ")).toMatchObject({
    kind: "command",
    spec: { name: "model" },
    rest: "claude-opus-5-5",
  });
  expect(readTyped("/exit")).toMatchObject({ spec: { name: "quit" } });
});

test("every other line is sent to the agent", () => {
  expect(readTyped(" what is 1/2? ")).toEqual({ kind: "words", text: "what is 1/2?" });
  expect(readTyped(" /model")).toEqual({ kind: "words", text: "/model" });
  expect(readTyped("/etc/hosts is odd")).toEqual({ kind: "words", text: "/etc/hosts is odd" });
});

test("an unknown command is answered with the nearest name", () => {
  expect(readTyped("/contxt")).toEqual({
    kind: "unknown",
    text: "There is no /contxt; did you mean /context? To send it to the agent, put a space before the slash.",
  });
});

test("help names every command", () => {
  const help = renderHelp();
  for (const { name } of slashSpecs) expect(help).toContain(`/${name}`);
});
