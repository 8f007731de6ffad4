import * as fc from "fast-check";
import { expect, test } from "vitest";
import { describeEnvironment, type Capability } from "./environment.ts";

const capabilities: readonly Capability[] = [
  { category: "Social", name: "news", status: "setup" },
  { category: "Communication", name: "email-send", status: "ready" },
  { category: "Communication", name: "chat", status: "unavailable" },
  { category: "Communication", name: "email-read", status: "ready" },
  { category: "Communication", name: "Zulip", status: "ready" },
];

const notes = { credentialCount: 12, guideHint: "Read a guide with skill_load." };

test("capabilities are condensed by category, with their status (X-02)", () => {
  expect(describeEnvironment(capabilities, { ...notes, brokenCredentials: ["mail"] })).toBe(
    [
      "## Environment",
      "",
      "Capabilities (✅ ready, 🔧 needs setup, ⛔ unavailable):",
      "Communication: Zulip, email-read, email-send ✅ | chat ⛔",
      "Social: news 🔧",
      "",
      "Read a guide with skill_load.",
      "",
      "Credentials: 12 configured, 1 broken (mail)",
    ].join("\n"),
  );
});

test("what is not there is not mentioned", () => {
  expect(describeEnvironment([], { credentialCount: 2, guideHint: " " })).toBe(
    "## Environment\n\nCredentials: 2 configured",
  );
  expect(describeEnvironment([], { credentialCount: 0, guideHint: "" })).toBeNull();
});

test("the order in which capabilities are found does not show", () => {
  const shuffled = fc.shuffledSubarray([...capabilities], { minLength: capabilities.length });
  fc.assert(
    fc.property(shuffled, (given) => {
      expect(describeEnvironment(given, notes)).toBe(describeEnvironment(capabilities, notes));
    }),
  );
});
