import { expect, test } from "vitest";
import type { ConfirmationRequest } from "../../../edge/tools/dispatch/confirmation.ts";
import {
  createConfirmations,
  type Confirmations,
  type ConfirmationsSetup,
} from "./confirmations.ts";

interface Watched extends Confirmations {
  readonly told: string[];
}

function open(whom: ConfirmationsSetup["whom"]): Watched {
  const told: string[] = [];
  const confirmations = createConfirmations({
    whom,
    onAsked: ({ id }) => told.push(`asked ${id}`),
    onReady: (id) => told.push(`ready ${id}`),
    onSettled: (id) => told.push(`settled ${id}`),
    onRefused: (name) => told.push(`refused ${name}`),
  });
  return { ...confirmations, told };
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

test("a person is asked, and yes is for once", async () => {
  const { confirm, answer, told } = open("person");
  const first = confirm(request("u1", "write"));
  answer("1", "yes");
  expect(await first).toBe(true);
  const second = confirm(request("u2", "write"));
  answer("2", "no");
  expect(await second).toBe(false);
  expect(told).toEqual(["asked 1", "settled 1", "asked 2", "settled 2"]);
});

test("always holds for that tool, also for those that wait, and for no other", async () => {
  const { confirm, answer, told } = open("person");
  const waiting = [request("u1", "write"), request("u2", "write"), request("u3", "bash")].map(
    confirm,
  );
  answer("1", "always");
  expect(await Promise.all(waiting.slice(0, 2))).toEqual([true, true]);
  expect(await confirm(request("u4", "write"))).toBe(true);
  expect(told).not.toContain("settled 3");
  answer("3", "no");
  expect(await waiting[2]).toBe(false);
});

test("a question nobody waits for any more is taken back", async () => {
  const { confirm, told } = open("person");
  const controller = new AbortController();
  const asked = confirm(request("u1", "write", controller.signal));
  controller.abort();
  expect(await asked).toBe(false);
  expect(told).toEqual(["asked 1", "settled 1"]);
});

test("with nobody to ask nothing runs, and that is told", async () => {
  const { confirm, told } = open("nobody");
  expect(await confirm(request("u1", "bash"))).toBe(false);
  expect(told).toEqual(["refused bash"]);
});

test("what an agent remembers is not asked about, since it can be undone", async () => {
  expect(await open("nobody").confirm(request("u1", "memory_add"))).toBe(true);
  expect(await open("everything is allowed").confirm(request("u1", "bash"))).toBe(true);
});

test("two uses of the same id are two questions, each with an answer of its own", async () => {
  const { confirm, answer } = open("person");
  const waiting = [request("call_0", "bash"), request("call_0", "write")].map(confirm);
  answer("1", "no");
  answer("2", "yes");
  expect(await Promise.all(waiting)).toEqual([false, true]);
});

test("a tool that only begins like one of memory is asked about", async () => {
  const { confirm, told } = open("nobody");
  expect(await confirm(request("u1", "memory_wipe"))).toBe(false);
  expect(told).toEqual(["refused memory_wipe"]);
});
