import { expect, test } from "vitest";
import type { PayloadOf } from "../events/event.ts";
import { compareDiagnosis } from "./provider-diagnosis.ts";

type Row = [says: string | null, cause: PayloadOf<"cache.miss">["cause"] | null, agreement: string];

test.each<Row>([
  [null, null, "agrees"],
  [null, "lifetime expired", "agrees"],
  [null, "provider lost it", "agrees"],
  ["unavailable", "provider lost it", "agrees"],
  ["tools_changed", "tools reordered", "agrees"],
  ["input_changed", "system changed", "agrees"],
  ["context_compacted", "history rewritten", "agrees"],
  ["unavailable", "parameter changed", "agrees"],
  ["verbosity_changed", "parameter changed", "agrees"],
  [null, "tools changed", "differs"],
  ["system_changed", "tools changed", "differs"],
  ["messages_changed", "provider lost it", "differs"],
  ["messages_changed", null, "not comparable"],
  ["unavailable", "tools changed", "not comparable"],
  ["pending", "tools changed", "not comparable"],
  ["previous_message_not_found", "tools changed", "not comparable"],
  ["comparison_response_not_found", null, "not comparable"],
])("%s of the provider beside our %s: %s", (says, cause, agreement) => {
  expect(compareDiagnosis({ says, cause, hasOwnEnd: false }).agreement).toBe(agreement);
});

test("a prompt that ended with text of its own is a change of messages for the provider", () => {
  const heard = { says: "messages_changed", cause: "provider lost it", hasOwnEnd: true } as const;
  expect(compareDiagnosis(heard).agreement).toBe("not comparable");
});

test("anything but a word is not kept", () => {
  const says = "tools\u0000changed".repeat(100);
  const heard = compareDiagnosis({ says, cause: "tools changed", hasOwnEnd: false });
  expect(heard).toEqual({ says: "unreadable", agreement: "not comparable" });
});
