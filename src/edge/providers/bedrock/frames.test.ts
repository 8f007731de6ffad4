// Goal: frames are read wherever they are split, and damaged ones are reported and never trusted. Method: AWS's own encoder writes them.
import { EventStreamCodec } from "@smithy/core/event-streams";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ServerEvent } from "../../../core/wire/protocol.ts";
import { cpuMsOf } from "../../../../harness/measure.ts";
import { isFrames, readFrames } from "./frames.ts";

type Headers = Readonly<Record<string, string>>;

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(typeof bytes === "string" ? Buffer.from(bytes) : bytes),
  (text) => new TextEncoder().encode(text),
);

function frame(headers: Headers, payload: string): Uint8Array {
  const own = Object.entries(headers).map(
    ([name, value]) => [name, { type: "string" as const, value }] as const,
  );
  const other = {
    flag: { type: "boolean" as const, value: true },
    size: { type: "integer" as const, value: 7 },
    at: { type: "timestamp" as const, value: new Date(0) },
    raw: { type: "binary" as const, value: new Uint8Array(3) },
    id: { type: "uuid" as const, value: "00000000-0000-0000-0000-000000000000" },
  };
  const body = new TextEncoder().encode(payload);
  return codec.encode({ headers: { ...other, ...Object.fromEntries(own) }, body });
}

function event(name: string, payload: string): Uint8Array {
  return frame({ ":message-type": "event", ":event-type": name }, payload);
}

function read(bytes: Uint8Array, cuts: readonly number[] = []): ServerEvent[] {
  const events: ServerEvent[] = [];
  const reader = readFrames((each) => events.push(each));
  let from = 0;
  for (const cut of [...cuts.toSorted((left, right) => left - right), bytes.length]) {
    reader.feed(bytes.subarray(from, cut));
    from = Math.max(from, cut);
  }
  return events;
}

const talk = [
  event("messageStart", '{"role":"assistant"}'),
  event("contentBlockDelta", '{"delta":{"text":"Grüße 🙂"}}'),
  event("metadata", ""),
  frame(
    { ":message-type": "exception", ":exception-type": "throttlingException" },
    '{"message":"Slow down."}',
  ),
  frame({ ":message-type": "error", ":error-code": "Internal", ":error-message": "No." }, ""),
];
const bytes = Buffer.concat(talk);
const expected: readonly ServerEvent[] = [
  { event: "messageStart", data: '{"role":"assistant"}' },
  { event: "contentBlockDelta", data: '{"delta":{"text":"Grüße 🙂"}}' },
  { event: "metadata", data: "" },
  { event: "exception:throttlingException", data: '{"message":"Slow down."}' },
  { event: "exception:Internal", data: '{"message":"No."}' },
];

test("frames become events, exceptions too", () => {
  expect(read(bytes)).toEqual(expected);
});

test("frames are read wherever the bytes are split", () => {
  const place = fc.nat(bytes.length);
  fc.assert(
    fc.property(fc.array(place, { maxLength: 30 }), (cuts) => {
      expect(read(bytes, cuts)).toEqual(expected);
    }),
  );
  const everywhere = Array.from(bytes, (_, index) => index);
  expect(read(bytes, everywhere)).toEqual(expected);
});

describe("damage", () => {
  test("is reported once, wherever a bit flips, and nothing after it is believed", () => {
    const [first = new Uint8Array()] = talk;
    fc.assert(
      fc.property(fc.nat(first.length - 1), fc.nat(7), (at, bit) => {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        const [only, ...others] = read(damaged);
        expect(only?.event).toBe("exception:broken frames");
        expect(others).toEqual([]);
      }),
    );
  });

  test.each([
    [0, "the checksum of a frame's lengths is wrong"],
    [20, "the checksum of a frame is wrong"],
  ])("at byte %i is named", (at, message) => {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(read(damaged)).toEqual([
      { event: "exception:broken frames", data: JSON.stringify({ message }) },
    ]);
  });

  test("in a later frame leaves the earlier ones", () => {
    const damaged = Uint8Array.from(bytes);
    damaged[bytes.length - 1] = (damaged[bytes.length - 1] ?? 0) ^ 1;
    expect(read(damaged).map(({ event: name }) => name)).toEqual([
      "messageStart",
      "contentBlockDelta",
      "metadata",
      "exception:throttlingException",
      "exception:broken frames",
    ]);
  });

  test.each([
    [4_294_967_295, 0],
    [25_165_825, 0],
    [15, 0],
    [100, 85],
    [1_000_000, 131_073],
  ])(
    "a frame of %i bytes with %i of headers is refused at its first twelve bytes",
    (length, headers) => {
      const prelude = Buffer.alloc(12);
      prelude.writeUInt32BE(length, 0);
      prelude.writeUInt32BE(headers, 4);
      prelude.writeUInt32BE(crc32Of(prelude.subarray(0, 8)), 8);
      const message = `a frame claims ${length} bytes, ${headers} of them headers`;
      expect(read(prelude)).toEqual([
        { event: "exception:broken frames", data: JSON.stringify({ message }) },
      ]);
    },
  );

  test("in the headers, under checksums that are right, is reported", () => {
    const whole = Uint8Array.from(talk[0] ?? []);
    // The type of the first header's value.
    whole[12 + 1 + "flag".length] = 99;
    expect(read(resealed(whole))[0]?.data).toBe(
      '{"message":"the headers of a frame cannot be read"}',
    );
    expect(read(frame({ ":message-type": "riddle" }, ""))[0]?.data).toBe(
      '{"message":"a frame does not say what it is"}',
    );
  });

  test("of random bytes never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(200)), (random, cuts) => {
        const kinds = read(
          random,
          cuts.filter((cut) => cut < random.length),
        ).map((each) => each.event);
        expect(kinds.length === 0 || kinds.at(-1) === "exception:broken frames").toBe(true);
      }),
    );
  });
});

test("a large frame in small pieces is read in linear time", () => {
  const large = event("chunk", "x".repeat(8_000_000));
  const cuts = Array.from({ length: large.length / 1000 }, (_, index) => index * 1000);
  let events: readonly ServerEvent[] = [];
  const cpuMs = cpuMsOf(() => (events = read(large, cuts)));
  expect(events[0]?.data).toHaveLength(8_000_000);
  expect(cpuMs).toBeLessThan(1000);
});

test("the content type says whether an answer is frames", () => {
  expect(isFrames("application/vnd.amazon.eventstream")).toBe(true);
  expect(isFrames("Application/vnd.amazon.eventstream; charset=utf-8")).toBe(true);
  expect(isFrames("application/json")).toBe(false);
});

/** By its definition, bit by bit. */
function crc32Of(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : 0xedb88320);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function resealed(whole: Uint8Array): Uint8Array {
  const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
  view.setUint32(whole.length - 4, crc32Of(whole.subarray(0, -4)));
  return whole;
}
