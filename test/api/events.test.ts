// Goal: who follows events gets each one once, in order, over restarts too, and who is too slow is told what it missed. Method: a ledger that others write to.
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createParser } from "eventsource-parser";
import { expect, onTestFinished, test } from "vitest";
import { completeEvent, type StrataEvent } from "../../src/core/events/event.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { eventId, newEvent } from "../ledger/contract/new-event.ts";
import { newFolder, openTestApi } from "./kit.ts";

interface Message {
  readonly id: number;
  readonly name: string;
  readonly data: { readonly id?: string; readonly after?: number; readonly through?: number };
}

/** Follows a stream as a browser does. */
async function follow(
  url: string,
  lastEventId: number | null = null,
  query = "",
): Promise<{
  readonly messages: readonly Message[];
  readonly leave: () => void;
}> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${url}/strata/v1/events/stream${query}`, {
    headers: lastEventId === null ? {} : { "last-event-id": String(lastEventId) },
    signal: stop.signal,
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream",
  ]);
  const messages: Message[] = [];
  const parser = createParser({
    onEvent: ({ id, event = "message", data }) =>
      messages.push({ id: Number(id), name: event, data: JSON.parse(data) as Message["data"] }),
  });
  const read = async (): Promise<void> => {
    for await (const bytes of response.body ?? [])
      parser.feed(Buffer.from(bytes as Uint8Array).toString());
  };
  read().catch(() => {});
  return { messages, leave: () => stop.abort() };
}

async function openWritten(): Promise<{ readonly store: string; readonly ledger: Ledger }> {
  const store = join(newFolder(), "ledger.db");
  const ledger = await openLedger(store);
  onTestFinished(() => ledger.close());
  return { store, ledger };
}

const idsOf = (messages: readonly Message[]): unknown => messages.map(({ data }) => data.id);

test("events come as they are written, of other processes too, and only those that were asked for", async () => {
  const { store, ledger } = await openWritten();
  await ledger.appendEvents([newEvent("a", 1)]);
  const api = await openTestApi(store);
  const everything = await follow(api.url);
  const some = await follow(api.url, null, "?session=b&types=session.resumed");
  await ledger.appendEvents([newEvent("a", 3)]);
  await ledger.appendEvents([newEvent("b", 2)]);
  await expect.poll(() => idsOf(everything.messages)).toEqual([3, 2].map(eventId));
  await expect.poll(() => idsOf(some.messages)).toEqual([eventId(2)]);
  expect(everything.messages[0]).toMatchObject({
    name: "message",
    data: { type: "session.resumed", session: "a", turn: null, payload: {} },
  });
  expect((await api.get("/events?after=1&limit=1")).body).toMatchObject({
    data: [{ id: eventId(3) }],
    next_after: 2,
    oldest_position: 1,
    newest_position: 3,
    left_out_count: 0,
  });
});

test("who comes back after a restart misses nothing and gets nothing twice", async () => {
  const { store, ledger } = await openWritten();
  const seen: Message[] = [];
  let next = 1;
  const write = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, (_, at) => newEvent("a", next + at));
    next += count;
    await ledger.appendEvents(events);
  };
  await write(3);
  for (let round = 0; round < 3; round += 1) {
    // A server of its own each time; what is written between two of them is in the ledger only.
    const api = await openTestApi(store);
    const followed = await follow(api.url, seen.at(-1)?.id ?? 0);
    await write(700);
    await expect.poll(() => seen.length + followed.messages.length).toBe(next - 1);
    seen.push(...followed.messages);
    followed.leave();
    await write(5);
  }
  expect(seen.map(({ data }) => data.id)).toEqual(
    Array.from({ length: seen.length }, (_, at) => eventId(at + 1)),
  );
});

test("a reader that takes nothing is told what it missed, and the others miss nothing", async () => {
  const { store, ledger } = await openWritten();
  const api = await openTestApi(store, {
    streams: { lookEveryMs: 20, ring: { framesMax: 100_000, bytesMax: 3_000_000 } },
  });
  const slow = connect(Number(new URL(api.url).port), "127.0.0.1");
  onTestFinished(() => void slow.destroy());
  slow.pause();
  slow.write("GET /strata/v1/events/stream?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const quick = await follow(api.url, 0);
  const events = 2000;
  for (let from = 0; from < events; from += 100) {
    await ledger.appendEvents(Array.from({ length: 100 }, (_, at) => longEvent(from + at)));
    await expect.poll(() => quick.messages.length, { interval: 5 }).toBe(from + 100);
  }
  const messages: Message[] = [];
  const parser = createParser({
    onEvent: ({ id, event = "message", data }) =>
      messages.push({ id: Number(id), name: event, data: JSON.parse(data) as Message["data"] }),
  });
  let last = "";
  const pieces: string[] = [];
  slow.on("data", (data) => {
    pieces.push(String(data));
    last = (last + String(data)).slice(-20_000);
  });
  slow.resume();
  await expect.poll(() => last).toContain(`id: ${events}\n`);
  const text = pieces.join("");
  // Without the lengths of its chunks.
  parser.feed(text.slice(text.indexOf("\r\n\r\n") + 4).replaceAll(/(?:\r\n)?[0-9a-f]+\r\n/g, ""));
  const missed = messages.filter(({ name }) => name === "missed");
  expect(missed.length).toBeGreaterThan(0);
  expect(quick.messages.filter(({ name }) => name === "missed")).toEqual([]);
  const covered = missed.reduce(
    (sum, { data }) => sum + (data.through ?? 0) - (data.after ?? 0),
    0,
  );
  expect(messages.length - missed.length + covered).toBe(events);
  slow.destroy();
  await once(slow, "close");
});

const longNames = Array.from({ length: 200 }, (_, at) => `skill-${at}-${"y".repeat(40)}`);

/** Ten kilobytes: free text would be cut. */
function longEvent(number: number): StrataEvent {
  return completeEvent(
    {
      sessionId: "a",
      type: "skill.search",
      payload: { query: "x", results_count: 200, result_skill_ids: longNames },
    },
    { id: eventId(number), timestampUs: number },
  );
}

test("who knows a position that the ledger does not have, or that was swept, is told so", async () => {
  const { store, ledger } = await openWritten();
  await ledger.appendEvents([1, 2, 3].map((number) => newEvent("a", number)));
  const api = await openTestApi(store);
  const ahead = await follow(api.url, 99);
  await expect
    .poll(() => ahead.messages)
    .toMatchObject([{ name: "missed", id: 3, data: { after: 3, through: 99 } }]);
  await ledger.sweepEvents(Date.UTC(2030, 0, 1));
  await ledger.appendEvents([newEvent("a", 4)]);
  const behind = await follow(api.url, 1);
  await expect
    .poll(() => behind.messages)
    .toMatchObject([
      { name: "missed", id: 3, data: { after: 1, through: 3 } },
      { name: "message", id: 4 },
    ]);
  expect((await api.get("/events?after=-1")).body).toMatchObject({
    error: { code: "invalid_cursor" },
  });
  expect((await api.get("/events?types=moon")).body).toMatchObject({
    error: { code: "invalid_parameter" },
  });
});

test("readers that come back all at once are all served, from where each of them was", async () => {
  const { store, ledger } = await openWritten();
  const numbers = Array.from({ length: 40 }, (_, at) => at + 1);
  await ledger.appendEvents(numbers.map((number) => newEvent("a", number)));
  const api = await openTestApi(store);
  const readers = await Promise.all(
    Array.from({ length: 230 }, (_, at) => follow(api.url, at % 40)),
  );
  await expect
    .poll(() => readers.filter(({ messages }, at) => messages.length === 40 - (at % 40)).length)
    .toBe(230);
  for (const [at, { messages, leave }] of readers.entries()) {
    expect(messages.map(({ id }) => id)).toEqual(numbers.slice(at % 40));
    leave();
  }
});
