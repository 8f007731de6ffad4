// Goal: metis brings a short prefix to the provider's minimum. Method: a session's own bodies, called twice.
import { expect, test } from "vitest";
import { assemble } from "../../src/core/assembly/assemble.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { Session } from "../../src/core/session/session.ts";
import { claude, encode, markersIn, options, say, tool, type Sent } from "./test-kit.ts";

const fiveMinutes = { type: "ephemeral" };

const session = openSession({
  ...claude,
  policy: findPolicy("metis"),
  context: { role: "unified", persona: { identity: "You are a careful helper." } },
  tools: [{ definition: tool("bash", "Runs it."), needs: [] }],
  skills: [
    { name: "pdf-forms", description: "Fills forms.", body: "Open the form, then fill it." },
    { name: "mail", description: "Sends mail.", body: "Ask before you send." },
  ],
  counter: cheapCounter,
  options,
});

test("a short prefix is padded to 4,500 tokens and not over 5,500 with skills by name, then guidance (M-20 to M-22)", () => {
  const { foundation } = session.thread;
  // Padding counts its pieces one by one; the whole text comes to a little less.
  expect(foundation.end.tokens).toBeGreaterThanOrEqual(4500 * 0.99);
  expect(foundation.end.tokens).toBeLessThanOrEqual(5500);
  expect(session.padding.preactivated).toEqual(["mail", "pdf-forms"]);
  const texts = foundation.system.map(({ text }) => text);
  expect(texts).toHaveLength(1);
  const places = [
    "You are a careful helper.",
    "- mail [preloaded]: Sends mail.",
    "- pdf-forms [preloaded]: Fills forms.",
    "# Skill: mail\n\nAsk before you send.",
    "# Skill: pdf-forms\n\nOpen the form, then fill it.",
    "# Operating context",
  ].map((text) => texts[0]?.indexOf(text) ?? -1);
  expect(places[0]).toBe(0);
  expect(places).toEqual(places.toSorted((left, right) => left - right));
});

test("the marker of the padded prefix is sent, and that of a tool list which stays short is not (M-10, M-12, M-26)", () => {
  const { body, plan } = call(session, "Hello.", "Notes: none.");
  expect(markersIn(body)).toEqual({
    "system.0": fiveMinutes,
    "messages.0.content.0": fiveMinutes,
  });
  expect(plan.dropped).toEqual([
    { block: 0, lifetime: "5m", slot: "head", reason: "below the provider's minimum" },
  ]);
});

test("what memory says changes nothing before it (M-05, M-13)", () => {
  const first = call(session, "Hello.", "Notes: none.").text;
  const second = call(session, "Hello.", "Notes: one more.").text;
  const prefix = first.slice(0, first.indexOf("Notes: "));
  expect(prefix.length).toBeGreaterThan(15_000);
  expect(second.startsWith(prefix)).toBe(true);
});

function call({ thread, policy, model }: Session, words: string, volatile: string): Sent {
  const assembly = assemble({
    thread,
    current: [say("user", words)],
    volatile,
    layout: policy.layout,
    model,
  });
  return encode("metis", assembly);
}
