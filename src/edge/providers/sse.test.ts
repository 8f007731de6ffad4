import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ServerEvent } from "../../core/wire/protocol.ts";
import { createEventReader, isEventStream } from "./sse.ts";

function eventsOf(chunks: Iterable<Uint8Array>): ServerEvent[] {
  const events: ServerEvent[] = [];
  const reader = createEventReader((event) => events.push(event));
  for (const chunk of chunks) reader.feed(chunk);
  return events;
}

const text =
  '\uFEFFevent: a\ndata: {"text":"grüß 🦔"}\n\n: ping\r\n\r\ndata: one\r\ndata: two\r\n\r\nid: 7\rdata: 日本\r\rdata: cut';
const expected = [
  { event: "a", data: '{"text":"grüß 🦔"}' },
  { event: undefined, data: "one\ntwo" },
  { event: undefined, data: "日本" },
];

test("events are the same however the bytes are split", () => {
  const bytes = new TextEncoder().encode(text);
  expect(eventsOf([bytes])).toEqual(expected);
  expect(eventsOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      const places = [0, ...cuts.toSorted((left, right) => left - right), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      expect(eventsOf(chunks)).toEqual(expected);
    }),
  );
});

test.each([
  ["text/event-stream", true],
  ["Text/Event-Stream; charset=utf-8", true],
  ["application/json", false],
  ["text/event-streams", false],
  [undefined, false],
])("%s is a stream of events: %s", (contentType, isStream) => {
  expect(isEventStream(contentType)).toBe(isStream);
});
