// Goal: other bytes in place of a request's are sent whole and with their own length, and a rewriter that fails is not felt.
import { setImmediate as immediate, setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Observation, Observer } from "../../src/gateway/exchange.ts";
import { bytesOf, connectRaw, endsOf, openTestGateway, openUpstream } from "./kit.ts";

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

test("a body may be rewritten a little later", async () => {
  const seen = rewriting(async (body) => {
    await wait(1);
    return [Buffer.from("<"), ...body];
  });
  const { arrived, state } = await pass(seen, long);
  expect(arrived).toEqual({ length: "200001", body: `<${long}` });
  expect(seen.shown).toEqual([`<${long}`]);
  expect(state).toMatchObject({ faults: 0, lateBodies: 0 });
});

test("nothing is sent for a client that leaves while its body is rewritten", async () => {
  const asked = Promise.withResolvers<null>();
  const begun = Promise.withResolvers<void>();
  const seen = rewriting(() => {
    begun.resolve();
    return asked.promise;
  });
  const upstream = await openUpstream(() => expect.unreachable("no request was to be sent"));
  const gateway = await openTestGateway(upstream, { observer: seen.observer, rewriteMsMax: 5000 });
  const client = connectRaw(gateway.port, "POST /up/v1 HTTP/1.1\r\nhost: 127.0.0.1\r\n");
  client.socket.write("content-length: 2\r\n\r\n{}");
  await begun.promise;
  client.socket.destroy();
  await expect.poll(() => endsOf(gateway)).toEqual(["client left -"]);
  asked.resolve(null);
  await asked.promise;
  await immediate();
  expect(seen.shown).toEqual([]);
});

test.each<[what: string, rewrite: Rewrite, state: object]>([
  ["wants nothing", () => null, { faults: 0, lateBodies: 0 }],
  ["wants nothing after a while", () => Promise.resolve(null), { faults: 0, lateBodies: 0 }],
  [
    "fails after a while",
    () => Promise.reject(new Error("a mistake of our own")),
    { faults: 1, lateBodies: 0 },
  ],
  ["never comes to an end", () => new Promise(() => {}), { faults: 0, lateBodies: 1 }],
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
