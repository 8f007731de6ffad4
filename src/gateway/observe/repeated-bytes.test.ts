// Goal: a body that repeats an earlier one passes unchanged, and only what is new takes memory.
import { once } from "node:events";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openTestGateway, openUpstream } from "../../../test/gateway/kit.ts";
import { BodyBytes } from "./body-bytes.ts";
import { createObserver } from "./observer.ts";
import { openRepeatedBytes } from "./repeated-bytes.ts";

/** Memory of its own for each piece, as a server's parser makes it. */
function inPieces(text: string, length: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length; at += length) {
    pieces.push(Buffer.from(new Uint8Array(Buffer.from(text.slice(at, at + length))).buffer));
  }
  return pieces;
}

function cut(whole: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let [at, turn] = [0, 0]; at < whole.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(whole.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

const line = "The line says where the file is used. ";

test("what an earlier body has at the same place stays in its memory, and only the rest is new", () => {
  const text = line.repeat(6000);
  const earlier = new BodyBytes(inPieces(`${text}]}`, 65_536));
  const take = openRepeatedBytes(() => earlier);
  const pieces = inPieces(`${text},{"role":"user"}]}`, 50_000);
  const kept = new BodyBytes(pieces.flatMap((piece) => take(piece)));
  expect(kept.text(0, kept.length)).toBe(`${text},{"role":"user"}]}`);
  const own = kept
    .slices(0, kept.length)
    .filter(
      ({ buffer }) => !earlier.slices(0, earlier.length).some((each) => each.buffer === buffer),
    );
  expect(own.map(({ length }) => length)).toEqual([`,{"role":"user"}]}`.length]);
});

test("a body is the same to the byte, wherever it differs and however it is cut", () => {
  const change = fc.record({ at: fc.nat(90_000), text: fc.string({ maxLength: 30 }) });
  const cuts = fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), cuts, cuts, (changes, before, after) => {
      const text = line.repeat(2400);
      let changed = text;
      for (const { at, text: put } of changes) {
        changed = changed.slice(0, at) + put + changed.slice(at + (at % 2 === 0 ? put.length : 0));
      }
      const earlier = new BodyBytes(cut(Buffer.from(text), before));
      const take = openRepeatedBytes(() => earlier);
      const passed = cut(Buffer.from(changed), after).map((piece) => Buffer.concat(take(piece)));
      expect(Buffer.concat(passed).toString()).toBe(changed);
    }),
    { numRuns: 60 },
  );
});

function messageAt(at: number): object {
  const role = at % 2 === 0 ? "user" : "assistant";
  return { role, content: `${at} ${line.repeat(200)}` };
}

function bodyOf(count: number, more: object = {}): string {
  const messages = Array.from({ length: count }, (_, at) => messageAt(at));
  return JSON.stringify({ model: "claude-sonnet-5-5", max_tokens: 10, messages, ...more });
}

test("long calls of a conversation reach the upstream to the byte, at once and one after the other", async () => {
  const arrived: string[] = [];
  const url = await openUpstream(async (incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    await once(incoming, "end");
    arrived.push(Buffer.concat(pieces).toString());
    outgoing.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  let taken = 0;
  const observer = createObserver({ nowMs: Date.now, sink: { take: () => (taken += 1) } });
  const gateway = await openTestGateway(url, { observer });
  const send = async (sent: string): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await (
      await fetch(`${gateway.up}/v1/messages`, { method: "POST", headers, body: sent })
    ).text();
  };
  const bodies = [bodyOf(41), bodyOf(43), bodyOf(45, { stream: false }), bodyOf(21), bodyOf(45)];
  for (const each of bodies) await send(each);
  await Promise.all(bodies.map(send));
  expect(arrived.slice(0, bodies.length)).toEqual(bodies);
  expect(arrived.slice(bodies.length).toSorted()).toEqual(bodies.toSorted());
  await expect.poll(() => taken).toBe(2 * bodies.length);
  expect(observer.state().faults).toBe(0);
});
