import { expect, test } from "vitest";
import { readIdentity } from "./workspace-identity.ts";

test("N-43: an identity is read from its lines, through list signs and bold", () => {
  const text = [
    "# Who I am",
    "- **Name:** Ada",
    "* Creature: a heron",
    "**Vibe**: calm: and exact",
    "Emoji: 🪶",
    "- **Avatar:** _(a path, or leave it)_",
    "Name: Bob",
  ].join("\r\n");
  expect(readIdentity(text)).toEqual({
    name: "Ada",
    creature: "a heron",
    vibe: "calm: and exact",
    emoji: "🪶",
    avatar: null,
  });
});

test("a text without such lines has no facts", () => {
  expect(readIdentity("I am whoever you need.\n\nname\n: x")).toEqual({
    name: null,
    creature: null,
    vibe: null,
    emoji: null,
    avatar: null,
  });
});
