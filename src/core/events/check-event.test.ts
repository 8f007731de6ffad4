import { describe, expect, test } from "vitest";
import { checkEvent } from "./check-event.ts";
import { checkTrace } from "../../../harness/check-trace.ts";
import { completeEvent, type StrataEvent } from "./event.ts";
import { salvageEvent } from "./salvage-event.ts";

const hash = "a".repeat(64);
const id = "01ARYZ6S410000000000000002";
const earlier = "01ARYZ6S410000000000000001";
const event = {
  id,
  timestampUs: 1_469_918_176_385_000,
  sessionId: "session-1",
  turnId: null,
  parentEventId: earlier,
  type: "memory.updated",
  actor: "agent",
  sensitivity: "private",
  payload: {
    file: "USER.md",
    operation: "add",
    before_hash: hash,
    after_hash: hash,
    before_size_bytes: 0,
    after_size_bytes: 12,
  },
};

const rulesOf = (changed: object): string[] =>
  checkEvent({ ...event, ...changed }).map(({ path, rule }) => `${path} ${rule}`);
const payloadRules = (type: string, payload: object): string[] =>
  checkEvent({ ...event, type, payload }).map(({ path, message }) => `${path} ${message}`);

test("an event as catalogued has no violations", () => {
  expect(checkEvent(event)).toEqual([]);
  expect(checkEvent(JSON.parse(JSON.stringify(event)))).toEqual([]);
});

describe("the envelope", () => {
  test.each<[string, object, string[]]>([
    ["an id that is none", { id: "1" }, ["id id-invalid"]],
    ["a time in fractions", { timestampUs: 1.5 }, ["timestampUs time-invalid"]],
    ["a time that is text", { timestampUs: "1" }, ["timestampUs time-invalid"]],
    ["an empty session", { sessionId: "" }, ["sessionId session-invalid"]],
    ["a session with a line break", { sessionId: "a\nb" }, ["sessionId session-invalid"]],
    ["a session with half a character", { sessionId: "a\ud83d" }, ["sessionId session-invalid"]],
    ["a turn that is missing", { turnId: undefined }, ["turnId turn-invalid"]],
    ["a parent that is no id", { parentEventId: "x" }, ["parentEventId parent-invalid"]],
    ["itself as parent", { parentEventId: id }, ["parentEventId parent-invalid"]],
    ["a later parent", { id: earlier, parentEventId: id }, ["parentEventId parent-invalid"]],
    ["an unknown actor", { actor: "robot" }, ["actor actor-unknown"]],
    ["a new sensitivity", { sensitivity: "public" }, ["sensitivity sensitivity-unknown"]],
    ["a payload that is a list", { payload: [] }, ["payload event-shape"]],
  ])("%s", (_name, changed, expected) => {
    expect(rulesOf(changed)).toEqual(expected);
  });

  test.each([[null], [undefined], ["event"], [[]], [7]])("%j is no event", (value) => {
    expect(checkEvent(value).map(({ rule }) => rule)).toEqual(["event-shape"]);
  });

  test("an unknown type is reported with the nearest known one", () => {
    expect(checkEvent({ ...event, type: "memory.update" })).toEqual([
      {
        path: "type",
        rule: "type-unknown",
        message: "memory.update is not an event type; did you mean memory.updated?",
      },
    ]);
    expect(checkEvent({ ...event, type: 7 })[0]?.message).toBe("must be the type of an event");
  });
});

describe("a payload", () => {
  test("with missing, unknown and wrong fields: each is reported, without its value", () => {
    const { file: _file, ...rest } = event.payload;
    const found = payloadRules("memory.updated", {
      ...rest,
      files: "USER.md",
      operation: "append",
      after_hash: "sk-0123456789",
      after_size_bytes: -1,
    });
    expect(found).toEqual([
      "payload.file memory.updated needs it: one of MEMORY.md, USER.md",
      "payload.operation must be one of add, replace, consolidate",
      "payload.after_hash must be a SHA-256 in hex",
      "payload.after_size_bytes must be a whole number from 0",
      "payload.files memory.updated has no such field; did you mean file?",
    ]);
  });

  test("may leave out what is optional, and hold null only where the catalogue allows it", () => {
    const completed = { tool_use_id: "tu_1", success: true, output_size_bytes: 3, latency_ms: 0.5 };
    expect(payloadRules("tool.completed", completed)).toEqual([]);
    expect(payloadRules("tool.completed", { ...completed, files_modified: ["a.ts"] })).toEqual([]);
    expect(payloadRules("tool.completed", { ...completed, files_modified: null })).toEqual([
      "payload.files_modified must be at most 100 paths",
    ]);
    const forked = { from_session_id: "a", from_turn_id: null };
    expect(payloadRules("session.forked", forked)).toEqual([]);
    expect(payloadRules("session.forked", { ...forked, from_session_id: null })).toHaveLength(1);
  });

  test.each<[unknown, boolean]>([
    ["0", true],
    ["12.5", true],
    ["-0.000000000001", true],
    ["1e-7", false],
    ["$1", false],
    ["1.", false],
    ["0.0000000000001", false],
    [1, false],
  ])("money %j is taken: %s", (cost, isTaken) => {
    const payload = { llm_call_count: 1, tool_call_count: 0, total_cost_usd: cost };
    expect(payloadRules("turn.abandoned", payload).length === 0).toBe(isTaken);
  });
});

describe("completing", () => {
  test("redacts free text, cuts long lists of it and says so", () => {
    const validationErrors = Array.from({ length: 150 }, (_, index) => `field ${index}`);
    const made = completeEvent(
      {
        sessionId: "s",
        type: "tool.input_invalid",
        payload: { tool_name: "x", validation_errors: ["token=abc", ...validationErrors] },
      },
      { id, timestampUs: 1 },
    );
    expect(made.payload.validation_errors[0]).toBe("token=[redacted]");
    expect(made.payload.validation_errors).toHaveLength(100);
    expect(made.payload.validation_errors.at(-1)).toBe("(52 more)");
    expect(checkEvent(made)).toEqual([]);
  });

  test("lets the emitter say who did it and who may see it", () => {
    const made = completeEvent(
      {
        sessionId: "s",
        type: "turn.resumed",
        actor: "worker",
        sensitivity: "private",
        payload: { llm_call_count: 0, tool_call_count: 0 },
      },
      { id, timestampUs: 1 },
    );
    expect([made.actor, made.sensitivity]).toEqual(["worker", "private"]);
  });
});

test("salvaging keeps right values as they are and makes the rest storable", () => {
  const broken = {
    ...event,
    turnId: 7,
    parentEventId: "x",
    actor: "robot",
    sensitivity: "public",
    payload: {
      ...event.payload,
      before_hash: `password=${"x".repeat(9000)}`,
      after_size_bytes: Number.NaN,
      operation: () => "add",
      tags: ["a", 7, "token=b"],
      when: new Map(),
    },
  } as unknown as StrataEvent;
  expect(salvageEvent(broken, checkEvent(broken))).toEqual({
    ...event,
    turnId: null,
    parentEventId: null,
    payload: {
      file: "USER.md",
      before_hash: "… (of 9009 characters)",
      after_hash: hash,
      before_size_bytes: 0,
      tags: ["a", "token=[redacted]"],
    },
  });
});

describe("a trace", () => {
  test("has growing ids per session and parents that came before", () => {
    expect(rules([at(5, null), at(1, null, "t"), at(6, 5), at(2, 5, "t")])).toEqual([]);
  });

  test("reports ids that go back, parents that are missing, and parents that come later", () => {
    expect(rules([at(5, null), at(4, null), at(6, 3), at(7, 8), at(8, null)])).toEqual([
      "4 id-not-greater",
      "6 parent-missing",
      "7 parent-later",
    ]);
  });

  test("may have parents elsewhere", () => {
    expect(checkTrace([at(5, 4)], (eventId) => eventId.endsWith("4"))).toEqual([]);
  });
});

function at(number: number, parent: number | null, sessionId = "s"): StrataEvent {
  const made = { id: `01ARYZ6S41000000000000000${number}`, timestampUs: 1 };
  const payload = { llm_call_count: 0, tool_call_count: 0 };
  const parentEventId = parent === null ? null : `01ARYZ6S41000000000000000${parent}`;
  return completeEvent({ sessionId, parentEventId, type: "turn.resumed", payload }, made);
}

function rules(events: readonly StrataEvent[]): string[] {
  return checkTrace(events).map(({ eventId, rule }) => `${eventId.at(-1)} ${rule}`);
}
