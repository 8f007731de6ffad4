import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { missCauses } from "../diagnosis/explanation.ts";
import { tiers } from "../tokens/budget.ts";
import { toErrorClass, type ProviderFailure } from "../wire/failure.ts";
import type { ReplyStop } from "../wire/reply.ts";
import { describeEvents } from "../../../scripts/api/describe-events.ts";
import { eventCatalogue, eventTypes, isAudit, isEventType, specOf } from "./event-catalogue.ts";
import type { PayloadOf } from "./event.ts";
import { toUsd } from "./payload-spelling.ts";

describe("the catalogue", () => {
  test("holds these types and no other", () => {
    expect(eventTypes).toEqual([
      "session.created",
      "session.resumed",
      "session.ended",
      "queue.dropped",
      "session.forked",
      "session.archived",
      "session.deleted",
      "turn.started",
      "route.decided",
      "turn.completed",
      "turn.cancelled",
      "turn.failed",
      "turn.interrupted",
      "turn.resumed",
      "turn.abandoned",
      "llm.call_started",
      "llm.call_completed",
      "llm.call_failed",
      "spending.cap_reached",
      "cache.miss",
      "cache.warmed",
      "tool.called",
      "tool.completed",
      "tool.failed",
      "tool.input_invalid",
      "tool.confirmation_requested",
      "tool.confirmation_resolved",
      "skill.search",
      "skill.loaded",
      "skill.modified",
      "memory.updated",
      "memory.eviction",
      "memory.unreadable",
      "compaction.started",
      "compaction.completed",
      "compaction.failed",
      "compaction.skipped",
      "gateway.call",
      "gateway.compacted",
      "gateway.calls_lost",
    ]);
    expect(isEventType("toString")).toBe(false);
  });

  test("names types as domain.verb and fields in snake case", () => {
    for (const type of eventTypes) {
      expect(type).toMatch(/^[a-z]+\.[a-z_]+$/);
      for (const name of Object.keys(specOf(type).payload)) expect(name).toMatch(/^[a-z_]+$/);
    }
  });

  test("spares from sweeps what was removed, allowed or changed for good", () => {
    expect(eventTypes.filter(isAudit)).toEqual([
      "session.forked",
      "session.archived",
      "session.deleted",
      "tool.confirmation_requested",
      "tool.confirmation_resolved",
      "skill.modified",
      "memory.eviction",
      "compaction.completed",
    ]);
  });

  test("keeps memory private, and loaded skills pseudonymous and of the system (S-10, M-31)", () => {
    expect(specOf("memory.updated")).toMatchObject({ actor: "agent", sensitivity: "private" });
    expect(specOf("memory.eviction")).toMatchObject({ actor: "system", sensitivity: "private" });
    expect(specOf("skill.loaded")).toMatchObject({ actor: "system", sensitivity: "pseudonymous" });
  });

  test("is what docs/events.md says", () => {
    const document = plain(readFileSync("docs/events.md", "utf8"));
    expect(document).toContain(plain(describeEvents()));
  });
});

describe("closed lists agree with those they repeat", () => {
  test("causes of a miss, without the one that is none, and tiers", () => {
    const { cause, block_tier: tier } = eventCatalogue["cache.miss"].payload;
    expect(cause).toEqual(missCauses.filter((each) => each !== "no miss"));
    expect(tier).toEqual([...tiers, null]);
  });

  // The types do the work: a line fails to compile if its list has more or fewer words.
  test("stop reasons, triggers of compactions, kinds of failed turns", () => {
    type Same<Left, Right> = [Left, Right] extends [Right, Left] ? true : false;
    type CompactionTrigger = "context_limit" | "overflow_recovery" | "manual" | "periodic";
    type TurnFailure =
      | "context_overflow"
      | "auth_failure"
      | "rate_limit"
      | "model_error"
      | "timeout"
      | "compaction_failure"
      | "spending_cap"
      | "unknown";
    const stops: Same<ReplyStop, PayloadOf<"llm.call_completed">["stop_reason"]> = true;
    const ends: Same<ReplyStop, PayloadOf<"turn.completed">["stop_reason"]> = true;
    const compactions: Same<CompactionTrigger, PayloadOf<"compaction.completed">["trigger"]> = true;
    const turns: Same<TurnFailure, PayloadOf<"turn.failed">["error_kind"]> = true;
    expect([stops, ends, compactions, turns]).toEqual([true, true, true, true]);
  });
});

describe("spelling for payloads", () => {
  test.each<[bigint, string]>([
    [0n, "0"],
    [1n, "0.000000000001"],
    [12_500_000n, "0.0000125"],
    [1_000_000_000_000n, "1"],
    [-2_500_000_000_000n, "-2.5"],
    [123_456_789_012_345_678_901n, "123456789.012345678901"],
  ])("%s pico-dollars are %s dollars", (pico, usd) => {
    expect(toUsd(pico)).toBe(usd);
  });

  test("no price is no cost, not zero", () => {
    expect(toUsd(null)).toBe(null);
  });

  test.each<[ProviderFailure["kind"], string]>([
    ["rate-limited", "rate_limit"],
    ["overloaded", "server_error"],
    ["context-overflow", "context_overflow"],
    ["permission", "auth"],
    ["timeout", "network"],
    ["billing", "other"],
  ])("a failure that is %s is of class %s", (kind, expected) => {
    expect(toErrorClass(kind)).toBe(expected);
  });
});

/** Removes the padding that a formatter adds to tables. */
function plain(text: string): string {
  return text.replace(/ +/g, " ").replace(/-{3,}/g, "---");
}
