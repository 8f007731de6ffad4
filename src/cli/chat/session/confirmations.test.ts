import { expect, test } from "vitest";
import type { ConfirmationRequest } from "../../../edge/tools/dispatch/confirmation.ts";
import type { ChatEvent } from "../state/update.ts";
import { createConfirmations, type Permission, type Confirmations } from "./confirmations.ts";

interface Watched extends Confirmations {
  readonly emitted: string[];
}

function open(permission: Permission): Watched {
  const emitted: string[] = [];
  return { ...createConfirmations(permission, (event) => emitted.push(describe(event))), emitted };
}

function describe(event: ChatEvent): string {
  if (event.type === "asked") return `asked ${event.question.id}`;
  if (event.type === "answered") return `answered ${event.id}`;
  return event.type === "noticed" ? event.text : event.type;
}

function request(toolUseId: string, toolName: string, signal?: AbortSignal): ConfirmationRequest {
  return {
    sessionId: "s1",
    toolUseId,
    toolName,
    input: { path: "a.ts" },
    sideEffects: "write",
    signal: signal ?? new AbortController().signal,
  };
}

test("the user is asked, and yes allows one use", async () => {
  const { confirm, answer, emitted } = open("ask");
  const first = confirm(request("u1", "write"));
  answer("1", "yes");
  expect(await first).toBe(true);
  const second = confirm(request("u2", "write"));
  answer("2", "no");
  expect(await second).toBe(false);
  expect(emitted).toEqual(["asked 1", "answered 1", "asked 2", "answered 2"]);
});

test("always allows that tool, its waiting uses too, and no other tool", async () => {
  const { confirm, answer, emitted } = open("ask");
  const waiting = [request("u1", "write"), request("u2", "write"), request("u3", "bash")].map(
    confirm,
  );
  answer("1", "always");
  expect(await Promise.all(waiting.slice(0, 2))).toEqual([true, true]);
  expect(await confirm(request("u4", "write"))).toBe(true);
  expect(emitted).not.toContain("answered 3");
  answer("3", "no");
  expect(await waiting[2]).toBe(false);
});

test("an aborted tool use takes its question back", async () => {
  const { confirm, emitted } = open("ask");
  const controller = new AbortController();
  const asked = confirm(request("u1", "write", controller.signal));
  controller.abort();
  expect(await asked).toBe(false);
  expect(emitted).toEqual(["asked 1", "answered 1"]);
});

test("without a terminal to ask on the tool is refused with a notice", async () => {
  const { confirm, emitted } = open("refuse");
  expect(await confirm(request("u1", "bash"))).toBe(false);
  expect(emitted).toEqual([
    "bash was not allowed: there is no terminal to ask on. --yes allows every tool.",
  ]);
});

test("memory tools run without a question, because they can be undone", async () => {
  expect(await open("refuse").confirm(request("u1", "memory_add"))).toBe(true);
  expect(await open("allow").confirm(request("u1", "bash"))).toBe(true);
});

test("two uses with the same id are two questions with separate answers", async () => {
  const { confirm, answer } = open("ask");
  const waiting = [request("call_0", "bash"), request("call_0", "write")].map(confirm);
  answer("1", "no");
  answer("2", "yes");
  expect(await Promise.all(waiting)).toEqual([false, true]);
});

test("a tool whose name only begins like a memory tool needs a confirmation", async () => {
  const { confirm, emitted } = open("refuse");
  expect(await confirm(request("u1", "memory_wipe"))).toBe(false);
  expect(emitted).toEqual([
    "memory_wipe was not allowed: there is no terminal to ask on. --yes allows every tool.",
  ]);
});
