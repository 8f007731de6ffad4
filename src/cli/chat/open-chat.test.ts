import { expect, test } from "vitest";
import { configOf } from "../../edge/config/test-kit.ts";
import { paceOfPrompt } from "./open-chat.ts";

test("a prompt of -p is a one-shot, or a loop where it has tools; an agent's own pace stays", () => {
  const config = configOf("agents: { bare: { toolset: none }, night: { pace: cron } }");
  expect(paceOfPrompt(config, "bare")).toEqual({ pace: "one-shot" });
  expect(paceOfPrompt(config)).toEqual({ pace: "tool loop" });
  expect(paceOfPrompt(config, "night")).toEqual({});
});
