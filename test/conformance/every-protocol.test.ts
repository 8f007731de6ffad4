// Goal: every protocol keeps the same promises. Method: one list of promises over all rows, against the simulator, which
// reads and writes with code of its own. A new row is tested without an edit here.
import { describe, expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { createRandom } from "../../harness/random-message.ts";
import { decodeAnswer, decodeEvents, eventsIn } from "../../harness/raw-answer.ts";
import {
  courseWires,
  isReply,
  makeCall,
  openCourse,
  prepare,
  runCourse,
  type Course,
  type CourseCall,
  type CourseWire,
} from "../../harness/wire-course.ts";
import { appendMessages } from "../../src/core/assembly/thread.ts";
import type { Message } from "../../src/core/message/message.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { toEndpoint } from "../../src/core/wire/access.ts";
import { bodyText, type EncodedRequest } from "../../src/core/wire/encoded-request.ts";
import { readRequest } from "../../src/core/wire/foreign/read-request.ts";
import type { CallToEncode, Protocol } from "../../src/core/wire/protocol.ts";
import type { Reply } from "../../src/core/wire/reply.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import type { FaultSpec } from "../../src/simulator/parse-faults.ts";
import { say, toolResult, toolUse } from "./test-kit.ts";

const listing = { name: "list", description: "Lists.", inputSchemaJson: '{"type":"object"}' };
const tools = [listing];
const refusals: readonly { readonly fault: FaultSpec; readonly expected: object }[] = [
  {
    fault: { kind: "rate limited", retryAfterSeconds: 7 },
    expected: { kind: "rate-limited", retryAfterMs: 7_000 },
  },
  { fault: { kind: "server error" }, expected: { kind: "server-error" } },
  { fault: { kind: "overloaded" }, expected: { kind: "overloaded" } },
  {
    fault: { kind: "overflow", tokens: 300_000, tokensMax: 200_000 },
    expected: { kind: "context-overflow" },
  },
];
const answer = "Two files. ".repeat(30).trim();

/** Its bytes are known well enough to damage them. */
const judged: CourseWire = {
  protocol: anthropicMessages,
  modelId: "claude-sonnet-4-6",
  saysWhen: true,
};

describe.each(courseWires.map((wire) => ({ wire, name: wire.protocol.name })))(
  "$name",
  ({ wire }) => {
    const { protocol } = wire;
    const open = (): Course => {
      const course = openCourse(wire, "Be brief.", tools);
      course.next = { parts: [{ kind: "text", text: answer }], stop: "end" };
      return course;
    };
    const call = (course: Course = open()): Promise<CourseCall> =>
      makeCall(course, [say("user", "What is there?")]);

    test("loses nothing in 300 random conversations, whole or streamed", async () => {
      const faults: string[] = [];
      for (let seed = 1; seed <= 300; seed += 1) faults.push(...(await runCourse(wire, seed)));
      expect(faults).toEqual([]);
    });

    test("repeats a reply's tool use to the byte", async () => {
      const course = open();
      const inputJson = '{"10":1.0,"2":1e3}';
      course.next = {
        parts: [{ kind: "tool use", name: "list", inputJson }],
        stop: "tool use",
      };
      const { assembly, streamed } = await call(course);
      const reply = decodeAnswer(protocol, streamed);
      if (!isReply(reply)) throw new Error(JSON.stringify(reply));
      course.thread = appendMessages(assembly.thread, [reply.message]);
      const before = bodyText(prepare(course, []).encode(false).pieces);
      const after = bodyText(
        prepare(course, [toolResult(useIn(reply), "a b")]).encode(false).pieces,
      );
      const spellings = [inputJson, JSON.stringify(inputJson).slice(1, -1)];
      expect(spellings.some((text) => after.includes(text))).toBe(true);
      expect(sharedLength(before, after)).toBeGreaterThan(before.indexOf("1e3"));
    });

    test("gives what arrived of a stream that is cut after any event, and never more", async () => {
      const { streamed } = await call();
      const events = eventsIn(protocol, streamed) ?? [];
      expect(events.length).toBeGreaterThan(3);
      for (let count = 0; count < events.length - 1; count += 1) {
        const outcome = decodeEvents(protocol, events.slice(0, count));
        const text = isReply(outcome) ? textIn(outcome) : "";
        const isWhole = isReply(outcome) && outcome.status === "complete";
        expect([answer.startsWith(text), isWhole && text !== answer]).toEqual([true, false]);
      }
    });

    test("never throws for damaged answers", async () => {
      const { whole, streamed } = await call();
      const random = createRandom(7);
      const kinds = new Set<string>();
      for (let round = 0; round < 300; round += 1) {
        for (const raw of [whole, streamed]) {
          const bytes = raw.bytes.slice(0, 1 + Math.floor(random() * raw.bytes.length));
          for (let hits = Math.floor(random() * 4); hits > 0; hits -= 1) {
            bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
          }
          kinds.add(decodeAnswer(protocol, { ...raw, bytes }).kind);
        }
      }
      expect(kinds).toContain("malformed");
    });

    test.each(refusals)("reads the refusal $fault.kind", async ({ fault, expected }) => {
      const course = open();
      course.whole.fault(fault);
      const { whole } = await call(course);
      const isUnsaid = "retryAfterMs" in expected && !wire.saysWhen;
      const wait = isUnsaid ? { retryAfterMs: undefined } : {};
      expect(decodeAnswer(protocol, whole)).toMatchObject({ ...expected, ...wait });
    });

    test("cancels a stream, and keeps what arrived", async () => {
      const course = open();
      course.streamed.fault({ kind: "stall", afterEvents: 8 });
      const server = await course.streamed.listen();
      const cancelling = new AbortController();
      const endpoint = toEndpoint(protocol.access, { apiKey: plantedKey });
      const basePath = new URL(endpoint.baseUrl).pathname.replace(/\/$/, "");
      const provider = createProvider({
        protocol,
        ...endpoint,
        baseUrl: `${server.url}${basePath}`,
      });
      const request = encodeFirst(wire, [say("user", "What is there?")], true);
      const onPart = (): void => cancelling.abort();
      const { signal } = cancelling;
      const sent = await provider.send({ request, stream: true, signal, onPart });
      await provider.close();
      await server.close();
      if (!isReply(sent.outcome)) throw new Error(JSON.stringify(sent.outcome));
      expect([sent.outcome.status, sent.outcome.failure?.kind]).toEqual(["partial", "cancelled"]);
      expect(answer.startsWith(textIn(sent.outcome))).toBe(true);
    });

    test("reads its own requests as somebody else's, block by block", () => {
      const messages = [
        say("user", "What is there?"),
        say("assistant", "I will look.", toolUse("call_1", "list", "{}")),
        toolResult("call_1", "a b"),
      ];
      const request = encodeFirst(wire, messages);
      const { facts } = resolveModel(wire.modelId);
      const address = { path: request.path, headers: request.headers };
      const read = readRequest(bodyText(request.pieces), { address });
      expect(read.protocol).toBe(protocol.name);
      expect([facts.id, ...facts.aliases, wire.modelId]).toContain(read.model);
      expect(read.blocks.map(({ text }) => text).join("\n")).toMatch(
        /Lists[^]*Be brief\.[^]*What is there\?[^]*I will look\.[^]*a b/,
      );
    });

    test("refuses a wrong key as a matter of authentication or permission", async () => {
      const course = open();
      const { whole } = await call(course);
      expect(whole.status).toBe(200);
      const request = encodeFirst(wire, [say("user", "Hi.")]);
      const refused = await course.whole.fetch(`http://127.0.0.1${pathOf(protocol, request)}`, {
        method: "POST",
        headers: { ...request.headers, "content-type": "application/json" },
        body: bodyText(request.pieces),
      });
      const failure = protocol.readFailure({
        status: refused.status,
        headers: Object.fromEntries(refused.headers),
        body: await refused.text(),
        nowMs: 0,
      });
      expect(["authentication", "permission"]).toContain(failure.kind);
    });
  },
);

describe("the comparison sees", () => {
  test.each([
    ["a reply that lost a block", "the whole reply", { decode: loseBlock }],
    ["usage that only a stream reports", "the usage of the stream", { decode: loseUsage }],
    ["a request that lost a letter", "read: ", { encode: loseLetter }],
  ])("%s", async (_, words, change) => {
    const faults = await runCourse({ ...judged, protocol: { ...judged.protocol, ...change } }, 3);
    expect(faults.join()).toContain(words);
  });
});

function loseBlock(body: string): ReturnType<Protocol["decode"]> {
  const reply = judged.protocol.decode(body);
  if (reply.kind !== "reply") return reply;
  return { ...reply, message: { ...reply.message, content: reply.message.content.slice(1) } };
}

function loseUsage(body: string): ReturnType<Protocol["decode"]> {
  const reply = judged.protocol.decode(body);
  if (reply.kind !== "reply") return reply;
  return { ...reply, usage: { ...reply.usage, isReported: false } };
}

function loseLetter(call: CallToEncode): EncodedRequest {
  const request = judged.protocol.encode(call);
  const text = bodyText(request.pieces).replace(/"text":"t/, '"text":"');
  return { ...request, pieces: [new TextEncoder().encode(text)] };
}

/** The first call of a conversation with these messages. */
function encodeFirst(
  wire: CourseWire,
  messages: readonly Message[],
  stream = false,
): EncodedRequest {
  return prepare(openCourse(wire, "Be brief.", tools), messages).encode(stream);
}

function pathOf({ access }: Protocol, { path }: EncodedRequest): string {
  return new URL(`${access.baseUrl}${path}`).pathname;
}

function useIn({ message }: Reply): string {
  const use = message.content.find((block) => block.type === "tool_use");
  if (use === undefined) throw new Error("the reply uses no tool");
  return use.id;
}

function textIn({ message }: Reply): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function sharedLength(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return at;
}
