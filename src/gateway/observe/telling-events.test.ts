// Goal: skipping what says nothing loses nothing. Method: random replies of every protocol, cut anywhere and split anywhere; the
// observer must know what a decoder knows that reads every event.
import { expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { createRandom, type Random } from "../../../harness/random-message.ts";
import { askRaw, decodeAnswer } from "../../../harness/raw-answer.ts";
import { courseWires, openCourse, prepare } from "../../../harness/wire-course.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import { bodyText } from "../../core/wire/encoded-request.ts";
import { startWatching } from "./test-kit.ts";

const tools = ["read", "run"].map((name) => ({
  name,
  description: `Calls ${name}.`,
  inputSchemaJson: '{"type":"object"}',
}));

test.each(courseWires.map((wire) => [wire.protocol.name, wire] as const))(
  "replies in %s are known as by a decoder that reads every event",
  async (_name, wire) => {
    const { protocol } = wire;
    const { credentials } = toEndpoint(protocol.access, { apiKey: plantedKey });
    const random = createRandom(11);
    let [whole, cut] = [0, 0];
    for (let run = 0; run < 60; run += 1) {
      const course = openCourse(wire, "Be brief.", tools);
      course.next = randomReply(random);
      const call = prepare(course, [
        { role: "user", content: [{ type: "text", text: `Say ${run}.` }] },
      ]);
      const answer = await askRaw(course.streamed, protocol, call.encode(true));
      const isCut = random() < 0.5;
      const end = isCut ? Math.floor(random() * answer.bytes.length) : answer.bytes.length;
      const bytes = answer.bytes.subarray(0, end);
      const base = new URL(protocol.access.baseUrl).pathname.replace(/\/$/, "");
      const seen = startWatching().pass({
        path: `${base}${call.encode(true).path}`,
        headers: credentials,
        body: bodyText(call.encode(true).pieces),
        answerHeaders: answer.headers,
        answer: bytes,
        pieceBytes: 1 + Math.floor(random() * 400),
        how: isCut ? "cut" : "complete",
      });
      const known = decodeAnswer(protocol, { ...answer, bytes });
      expect(seen, `run ${run}`).toMatchObject(toExpected(known));
      if (known.kind !== "reply") continue;
      if (known.status === "complete") whole += 1;
      else cut += 1;
    }
    expect(whole).toBeGreaterThan(20);
    expect(cut).toBeGreaterThan(10);
  },
);

function toExpected(known: ReturnType<typeof decodeAnswer>): object {
  if (known.kind !== "reply") return { status: "failed", usage: null };
  const { id, status, usage, stopReason } = known;
  return {
    replyId: id,
    status,
    usage: usage.isReported ? usage.usage : null,
    stopReason: status === "complete" ? stopReason : null,
  };
}

function randomReply(random: Random): ReturnType<typeof openCourse>["next"] {
  const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => randomPart(random));
  const calls = parts.some(({ kind }) => kind === "tool use");
  return { parts, stop: calls ? "tool use" : random() < 0.2 ? "output limit" : "end" };
}

function randomPart(random: Random): ReturnType<typeof openCourse>["next"]["parts"][number] {
  const roll = random();
  const text = words[Math.floor(random() * words.length)] ?? "";
  if (roll < 0.5) return { kind: "text", text };
  if (roll < 0.7) return { kind: "thinking", text };
  return { kind: "tool use", name: "read", inputJson: JSON.stringify({ path: text }) };
}

/** Texts that look like what is searched for. */
const words = [
  'It has "usage": {"input_tokens": 1} in it.',
  "event: message_delta\n\ndata: {}\n\n",
  '"error" and "finish_reason":"stop" and [DONE]',
  "plain words ".repeat(60),
  '\\"response.completed\\"',
  "ünïcödé 😀 ".repeat(30),
];
