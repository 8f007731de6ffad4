import { expect, test } from "vitest";
import { eventsMax, limitEvents } from "./limit-events.ts";
import { protocols } from "./protocols.ts";
import type { StreamDecoder } from "./protocol.ts";
import type { Reply } from "./reply.ts";

const reply: Reply = {
  kind: "reply",
  id: "",
  model: "",
  message: { role: "assistant", content: [] },
  stopReason: "end_turn",
  usage: {
    usage: {
      uncachedTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: {},
      outputTokens: 0,
      reasoningTokens: 0,
    },
    isReported: false,
    reportsCache: false,
    warnings: [],
  },
  status: "complete",
  transformations: [],
};

/** Counts its events, and is a whole reply after the first. */
const counting: StreamDecoder<number> = {
  start: 0,
  step: (count) => [count + 1, [{ type: "text", text: "x" }]],
  finish: (count) =>
    count === 0 ? { kind: "malformed", detail: "nothing" } : { ...reply, id: String(count) },
};

function flood(
  decoder: StreamDecoder,
  events: number,
  data: string,
): ReturnType<StreamDecoder["finish"]> {
  let state = decoder.start;
  for (let number = 0; number < events; number += 1) {
    [state] = decoder.step(state, { event: undefined, data });
  }
  return decoder.finish(state);
}

test("a reply of a million events is whole; with one more it is malformed, and says so", () => {
  const decoder: StreamDecoder = limitEvents(counting);
  expect(flood(decoder, eventsMax, "")).toMatchObject({ status: "complete", id: "1000000" });
  expect(flood(decoder, eventsMax + 2, "")).toMatchObject({
    status: "partial",
    id: "1000000",
    failure: { kind: "malformed", detail: "the stream has more than 1000000 events" },
  });
});

test.each(protocols.map((protocol) => [protocol.name, protocol] as const))(
  "%s: a stream of events without a reply ends as malformed",
  (_name, { stream }) => {
    expect(flood(stream, eventsMax + 1, "{}")).toMatchObject({
      kind: "malformed",
      detail: "the stream has more than 1000000 events",
    });
  },
);
