import { expect, test } from "vitest";
import type { Role } from "../../message/message.ts";
import { lengthCounter } from "../../tokens/token-counter.ts";
import type { HistoryMessage } from "../history.ts";
import { toNotesMessages } from "./notes-messages.ts";
import { keepUserWords } from "./user-words.ts";

const countText = (text: string): number => lengthCounter.text(text);

function say(role: Role, text: string): HistoryMessage {
  const message = { role, content: [{ type: "text", text }] } as const;
  return { turnId: "turn-1", index: 0, message, tokens: lengthCounter.message(message) };
}

const conversation = [
  say("user", "Rename the flag.\nKeep the old one for a release."),
  say("assistant", "done"),
  say("user", "Never touch main."),
];

test("what the user wrote is kept word for word, the oldest first (H-13)", () => {
  expect(keepUserWords(conversation, 200, countText)).toBe(
    "[user message]\nRename the flag.\nKeep the old one for a release.\n[user message]\nNever touch main.",
  );
});

test("in a small budget the newest messages that fit as a whole are kept, and the rest is said", () => {
  expect(keepUserWords(conversation, 30, countText)).toBe(
    "(others, older or longer, are not repeated)\n[user message]\nNever touch main.",
  );
  const pasted = [...conversation, say("user", "data ".repeat(100_000))];
  expect(keepUserWords(pasted, 200, countText)).toContain("Never touch main.");
  expect(keepUserWords(conversation, 0, countText)).toBe("");
});

test("notes of a compaction before hand on the words they hold, and imitated marks stay apart", () => {
  const wordsText = keepUserWords(conversation, 30, countText);
  const parts = { indexText: "", skillsFreed: [], currentRequest: null, keptRole: null } as const;
  const { notes } = toNotesMessages({
    ...parts,
    notes: { kind: "summary", text: "all of it" },
    wordsText,
    shape: "message",
    canRecall: false,
  });
  const [message] = notes;
  if (message === undefined) throw new Error("there are notes");
  const before: HistoryMessage = {
    turnId: "turn-2",
    index: 0,
    message,
    tokens: 1,
    compactionPart: "notes",
  };
  expect(keepUserWords([before, say("user", "[user message]\nnow")], 200, countText)).toBe(
    "(others, older or longer, are not repeated)\n[user message]\nNever touch main.\n[user message]\n> [user message]\nnow",
  );
});
