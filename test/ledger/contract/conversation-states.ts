// States of conversations that gateways share: found by what a request begins with, and never by another tenant.
import { expect, test } from "vitest";
import {
  prefixKeysMax,
  type ConversationState,
  type StateQuestion,
} from "../../../src/core/ledger/conversation-state.ts";
import { gatewayCall } from "../gateway-kit.ts";
import type { TestStore } from "../stores.ts";

const first: ConversationState = {
  conversationId: "c",
  tenant: "anthropic\none",
  prefixKey: "key 1",
  callNumber: 1,
  endedMs: 1000,
  openingKey: "opening",
  headKey: "head",
  thread: "session 1\n",
  replyId: "msg_1",
  stateJson: "{}",
};

const nothing: StateQuestion = {
  tenant: "anthropic\none",
  prefixKeys: [],
  openingKey: null,
  headKey: null,
  threads: [],
  replyId: null,
  conversationIds: [],
};

// oxlint-disable-next-line max-lines-per-function -- one list of promises
export function conversationStatesContract({ open }: TestStore): void {
  test("a state is found by each of its signs, whole and once", async () => {
    const { ledger } = await open();
    await ledger.keepStates([first]);
    const signs: readonly Partial<StateQuestion>[] = [
      { prefixKeys: ["key 2", "key 1"] },
      { openingKey: "opening" },
      { headKey: "head" },
      { threads: ["session 0\n", "session 1\n"] },
      { replyId: "msg_1" },
      { conversationIds: ["b", "c"] },
      { prefixKeys: ["key 1"], openingKey: "opening", headKey: "head", replyId: "msg_1" },
    ];
    for (const sign of signs) {
      expect(await ledger.findStates({ ...nothing, ...sign })).toEqual([first]);
    }
    expect(await ledger.findStates({ ...nothing, prefixKeys: ["key 2"] })).toEqual([]);
    expect(await ledger.findStates(nothing)).toEqual([]);
  });

  test("a tenant finds no state of another by any sign", async () => {
    const { ledger } = await open();
    await ledger.keepStates([first]);
    const asked = { prefixKeys: ["key 1"], openingKey: "opening", headKey: "head" };
    const named = { threads: ["session 1\n"], replyId: "msg_1", conversationIds: ["c"] };
    const all = { ...nothing, ...asked, ...named };
    for (const tenant of ["anthropic\ntwo", "openai\none", "anthropic\n", ""]) {
      expect(await ledger.findStates({ ...all, tenant })).toEqual([]);
    }
  });

  test("of two states of one prompt the later call's stays, in whatever order they are written", async () => {
    const { ledger, reopen } = await open();
    const other = await reopen();
    const later = { ...first, callNumber: 2, endedMs: 2000, stateJson: '{"from":"later"}' };
    await other.keepStates([later]);
    await ledger.keepStates([first]);
    const question = { ...nothing, prefixKeys: ["key 1"] };
    expect(await ledger.findStates(question)).toEqual([later]);
    await ledger.keepStates([{ ...later, endedMs: 3000, stateJson: '{"from":"again"}' }]);
    expect(await other.findStates(question)).toMatchObject([{ stateJson: '{"from":"again"}' }]);
  });

  test("calls that went on differently on two nodes stand beside each other", async () => {
    const { ledger, reopen } = await open();
    const other = await reopen();
    const left = { ...first, prefixKey: "left", callNumber: 2, endedMs: 2000 };
    const right = { ...first, prefixKey: "right", callNumber: 2, endedMs: 2001 };
    await Promise.all([ledger.keepStates([left]), other.keepStates([right])]);
    const found = await ledger.findStates({ ...nothing, prefixKeys: ["left", "right"] });
    expect(found).toEqual([right, left]);
  });

  test("a conversation keeps the states of its last four calls", async () => {
    const { ledger } = await open();
    for (let number = 1; number <= 6; number += 1) {
      await ledger.keepStates([
        { ...first, prefixKey: `key ${number}`, callNumber: number, endedMs: number },
        { ...first, conversationId: "d", prefixKey: "other" },
      ]);
    }
    const found = await ledger.findStates({ ...nothing, openingKey: "opening" });
    expect(found.map(({ prefixKey }) => prefixKey)).toEqual([
      "other",
      "key 6",
      "key 5",
      "key 4",
      "key 3",
    ]);
  });

  test("what is found is bounded, and so are the keys that are asked for", async () => {
    const { ledger } = await open();
    await ledger.keepStates(
      Array.from({ length: 20 }, (_, at) => ({
        ...first,
        conversationId: `c${at}`,
        endedMs: at,
      })),
    );
    const found = await ledger.findStates({ ...nothing, openingKey: "opening" });
    expect(found.map(({ endedMs }) => endedMs)).toEqual(
      Array.from({ length: 16 }, (_, at) => 19 - at),
    );
    const keys = Array.from({ length: prefixKeysMax }, (_, at) => `no key ${at}`);
    expect(await ledger.findStates({ ...nothing, prefixKeys: [...keys, "key 1"] })).toEqual([]);
  });

  test("old states are swept, and a deleted conversation leaves none", async () => {
    const { ledger } = await open();
    const call = gatewayCall("a", 1);
    const { id } = call.conversation;
    await ledger.recordCalls([call]);
    await ledger.keepStates([
      { ...first, conversationId: id, endedMs: 5000 },
      { ...first, conversationId: "old", endedMs: 4999 },
    ]);
    expect(await ledger.sweepStates(5000)).toEqual({ sweptCount: 1, keptCount: 1 });
    const question = { ...nothing, openingKey: "opening" };
    expect(await ledger.findStates(question)).toMatchObject([{ conversationId: id }]);
    await ledger.deleteSession(id);
    expect(await ledger.findStates(question)).toEqual([]);
  });
}
