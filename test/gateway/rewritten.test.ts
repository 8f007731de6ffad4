// Goal: other bytes in place of a request's are sent whole and with their own length, and a rewriter that fails is not felt.
import { expect, test } from "vitest";
import type { Observation, Observer } from "../../src/gateway/exchange.ts";
import { bytesOf, openTestGateway, openUpstream } from "./kit.ts";

type Rewrite = Required<Observation>["rewrite"];

interface Seen {
  readonly observer: Observer;
  /** What the observer was shown as sent. */
  readonly shown: string[];
}

function nothing(): void {}

function other(): readonly Uint8Array[] {
  return [Buffer.from("other bytes")];
}

function rewriting(rewrite: Rewrite): Seen {
  const shown: string[] = [];
  const observation: Observation = {
    rewrite,
    requestBody: (body) => void shown.push(body === null ? "null" : textOf(body)),
    responseHead: nothing,
    responseBytes: nothing,
    end: nothing,
  };
  return { observer: { begin: () => observation }, shown };
}

function textOf(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString();
}

interface Arrived {
  readonly length: string | undefined;
  readonly body: string;
}

async function pass(
  seen: Seen,
  body: string | ReadableStream,
  rewriteMsMax = 5000,
): Promise<{ readonly arrived: Arrived; readonly state: object }> {
  const bodies: Arrived[] = [];
  const upstream = await openUpstream(async (incoming, outgoing) => {
    const length = incoming.headers["content-length"];
    bodies.push({ length, body: (await bytesOf(incoming)).toString() });
    outgoing.end("ok");
  });
  const gateway = await openTestGateway(upstream, { observer: seen.observer, rewriteMsMax });
  const response = await fetch(`${gateway.up}/v1`, { method: "POST", body, duplex: "half" });
  expect(await response.text()).toBe("ok");
  await expect.poll(() => seen.shown.length).toBe(1);
  const [arrived] = bodies;
  return { arrived: arrived ?? { length: "", body: "" }, state: gateway.state().observer };
}

const long = "é".repeat(100_000);

test("a body is sent in other bytes, with their length, and shown as it was sent", async () => {
  const seen = rewriting((body) => [Buffer.from("<"), ...body, Buffer.from(">")]);
  const { arrived } = await pass(seen, long);
  expect(arrived).toEqual({ length: "200002", body: `<${long}>` });
  expect(seen.shown).toEqual([`<${long}>`]);
});

test.each<[what: string, rewrite: Rewrite, state: object]>([
  ["wants nothing", () => null, { faults: 0, lateBodies: 0 }],
  [
    "throws",
    () => {
      throw new Error("a mistake of our own");
    },
    { faults: 1, lateBodies: 0 },
  ],
  [
    "takes too long",
    (body) => {
      const from = performance.now();
      while (performance.now() - from < 15);
      return [Buffer.from("<"), ...body];
    },
    { faults: 0, lateBodies: 1 },
  ],
])("a rewriter that %s leaves the client's bytes", async (_what, rewrite, state) => {
  const seen = rewriting(rewrite);
  const passed = await pass(seen, long, 10);
  expect(passed.arrived).toEqual({ length: "200000", body: long });
  expect(passed.state).toMatchObject(state);
  expect(seen.shown).toEqual([long]);
});

test("a body without a length passes as it comes, and so does one above the limit", async () => {
  const piece = Buffer.from("a piece");
  const stream = new ReadableStream({
    start: (controller) => {
      controller.enqueue(piece);
      controller.close();
    },
  });
  expect((await pass(rewriting(other), stream)).arrived.body).toBe("a piece");
  const huge = "x".repeat(9 * 1024 * 1024);
  const { arrived } = await pass(rewriting(other), huge);
  expect(arrived.body.length).toBe(huge.length);
});
