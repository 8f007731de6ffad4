// Goal: a person reads the program's own name in the line of a call. Method: the user agents that clients were seen to send.
import { expect, test } from "vitest";
import { readMarks } from "./client-marks.ts";

/** Seen on 2026-11-15 and 2026-11-18. */
test.each([
  ["claude-code", "claude-cli/2.1.325 (external, cli)"],
  ["claude-code", "claude-cli/2.1.325 (external, sdk-cli)"],
  ["claude-agent-sdk", "claude-cli/2.1.325 (external, sdk-ts, agent-sdk/0.3.325)"],
  ["claude-agent-sdk", "claude-cli/2.1.325 (external, sdk-py)"],
  ["opencode", "opencode/1.18.33 ai-sdk/provider-utils/4.0.46 runtime/bun/1.3.14"],
  ["pi", "pi (linux 6.18.44-fc-v490; x64)"],
  ["gemini-cli", "GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64; terminal)"],
])("a user reads %s for a request of %s", (client, agent) => {
  expect(readMarks({ "user-agent": agent }).client).toBe(client);
});

test("a program whose name only ends like that of an agent is not taken for it", () => {
  expect(readMarks({ "user-agent": "raspberry-pi/2 (linux)" }).client).toBe("unknown");
});
