// What tests look at: what a session shows, whether the ledger has the same, and what it cost.
import { expect } from "vitest";
import { itemsOf } from "../../src/core/growing/growing-list.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import type { Session } from "../../src/core/session/session.ts";
import { resumeSession } from "../../src/engine/session/stored-session.ts";
import { all } from "../ledger/test-kit.ts";
import { sessionId, type World } from "./test-kit.ts";

/** What the model is shown next, without tools and system text. */
export function messagesOf({ thread }: Session): readonly Message[] {
  return [...itemsOf(thread.messages)];
}

export function textOf({ content }: Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export async function readMessages(ledger: Ledger): Promise<readonly Message[]> {
  return (await all(ledger.readThread({ sessionId }))).map(({ message }) => message);
}

/** Uses whose answers do not follow at once, and answers nobody asked for. */
export function splitPairs(messages: readonly Message[]): readonly string[] {
  const problems: string[] = [];
  let open = new Set<string>();
  for (const { role, content } of messages) {
    if (role !== "tool" && open.size > 0) problems.push(`no answer to ${[...open].join(", ")}`);
    if (role !== "tool") open = new Set();
    for (const block of content) {
      if (block.type === "tool_use") open.add(block.id);
      if (block.type === "tool_result" && !open.delete(block.toolUseId)) {
        problems.push(`nobody asked for ${block.toolUseId}`);
      }
    }
  }
  return problems;
}

/** Whoever reads it from the ledger has the same session; its trace has no holes. */
export async function expectSame(world: World): Promise<void> {
  const { thread, headTurnId, compactionState } = world.session;
  const read = await resumeSession(world.store.ledger, sessionId, world.setup);
  expect(read.thread.end).toEqual(thread.end);
  expect(read.headTurnId).toBe(headTurnId);
  expect(read.compactionState).toEqual(compactionState);
  expect(await world.violations()).toEqual([]);
}

/** The session cost what the provider billed, to the last digit; of an answer that never came nobody knows. */
export async function expectCosts({ simulator, store }: World): Promise<void> {
  const session = await store.ledger.findSession(sessionId);
  const answered = simulator.calls().filter(({ outcome }) => outcome === "answered");
  const billed = answered.map((call) => toPicoUsd(call.billed?.costUsd ?? "$0"));
  expect(session?.costPicoUsd).toBe(billed.reduce((sum, each) => sum + each, 0n));
}

/** `$0.0123` → 12,300,000,000. */
function toPicoUsd(text: string): bigint {
  const [dollars = "", rest = ""] = text.replace("$", "").split(".");
  return BigInt(dollars + rest.padEnd(12, "0"));
}
