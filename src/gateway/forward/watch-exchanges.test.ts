// Goal: the observer sees what passed, and whatever it does, the traffic does not notice. Method: observers that fail.
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../../harness/planted-key.ts";
import { openTestGateway, openUpstream, type TestGateway } from "../../../test/gateway/kit.ts";
import type { ExchangeStart, Observation, Observer } from "../exchange.ts";
import { faultsMax, usualPauseMs, watchExchanges } from "./watch-exchanges.ts";

const start: ExchangeStart = {
  id: "1",
  startMs: 0,
  method: "POST",
  path: "/v1/messages",
  headers: {},
  upstream: "up",
  account: "",
};

interface Seen {
  readonly observer: Observer;
  readonly lines: string[];
  readonly starts: ExchangeStart[];
}

function createSeeing(): Seen {
  const [lines, starts]: [string[], ExchangeStart[]] = [[], []];
  const begin = (given: ExchangeStart): Observation => {
    starts.push(given);
    return {
      requestBody: (body) =>
        lines.push(body === null ? "no body" : `body ${Buffer.concat(body).toString()}`),
      responseHead: (status, headers) => lines.push(`head ${status} ${headers["x-a"]}`),
      responseBytes: (bytes) => lines.push(`bytes ${Buffer.from(bytes).toString()}`),
      end: ({ how }) => lines.push(`end ${how}`),
    };
  };
  return { observer: { begin }, lines, starts };
}

const echo = (): Promise<string> =>
  openUpstream((incoming, outgoing) => {
    outgoing.setHeader("X-A", ["1", "2"]);
    incoming.pipe(outgoing);
  });

async function post(gateway: TestGateway, body: string): Promise<string> {
  const headers = {
    "x-api-key": plantedKey,
    authorization: `Bearer ${plantedOpenaiKey}`,
    cookie: "a=1",
    "anthropic-beta": "one",
  };
  const url = `${gateway.up}/v1/messages?beta=true&key=${"secret".repeat(2)}&x=1`;
  return (await fetch(url, { method: "POST", headers, body })).text();
}

test("it sees the request, the answer as it passed, and the end, in this order", async () => {
  const { observer, lines } = createSeeing();
  const gateway = await openTestGateway(await echo(), { observer });
  expect(await post(gateway, "question")).toBe("question");
  await expect
    .poll(() => lines)
    .toEqual(["body question", "head 200 1, 2", "bytes question", "end complete"]);
});

test("it is told no credentials, only a hash that differs between accounts", async () => {
  const { observer, starts } = createSeeing();
  const gateway = await openTestGateway(await echo(), { observer });
  await post(gateway, "one");
  await post(gateway, "two");
  await fetch(`${gateway.up}/v1/messages`, { method: "POST", body: "three" });
  const [first, second, third] = starts;
  expect(first).toMatchObject({
    method: "POST",
    path: "/v1/messages?beta=true&key=***&x=1",
    upstream: "up",
    account: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  expect(Object.keys(first?.headers ?? {}).toSorted()).toEqual([
    "accept",
    "accept-encoding",
    "accept-language",
    "anthropic-beta",
    "connection",
    "content-length",
    "content-type",
    "host",
    "sec-fetch-mode",
    "user-agent",
  ]);
  expect(second?.account).toBe(first?.account);
  expect(third?.account).toBe("");
});

test("a body above the limit passes unread, and is counted", async () => {
  const { observer, lines } = createSeeing();
  const gateway = await openTestGateway(await echo(), { observer, bodyBytesMax: 10 });
  expect(await post(gateway, "eleven and more")).toBe("eleven and more");
  await expect.poll(() => lines.at(-1)).toBe("end complete");
  expect(lines[0]).toBe("no body");
  expect(gateway.state().observer.unreadBodies).toBe(1);
});

test.each(["begin", "requestBody", "responseHead", "responseBytes", "end"])(
  "a throw in %s is counted, and the exchange goes on",
  async (where) => {
    const broken = (): never => {
      throw new Error(`broken ${where}`);
    };
    const observation = { requestBody() {}, responseHead() {}, responseBytes() {}, end() {} };
    const observer: Observer = {
      begin: () => (where === "begin" ? broken() : { ...observation, [where]: broken }),
    };
    const gateway = await openTestGateway(await echo(), { observer });
    expect(await post(gateway, "question")).toBe("question");
    await expect.poll(() => gateway.state().observer.faults).toBe(1);
    expect(gateway.problems).toEqual([`an exchange was not recorded: broken ${where}`]);
    expect(gateway.done.map(({ how }) => how)).toEqual(["complete"]);
  },
);

test("after five faults in a row it is left out for a minute, and one more fault leaves it out again", async () => {
  const problems: string[] = [];
  let [nowMs, isBroken, begun] = [1_000_000, true, 0];
  const watching = watchExchanges({
    observer: {
      begin: () => {
        begun += 1;
        if (isBroken) throw new Error("broken");
        return { requestBody() {}, responseHead() {}, responseBytes() {}, end() {} };
      },
    },
    bodyBytesMax: 1000,
    onProblem: (problem) => problems.push(problem),
    now: () => nowMs,
  });
  for (let at = 0; at < faultsMax + 3; at += 1) watching.begin(() => start);
  expect(begun).toBe(faultsMax);
  expect(watching.state()).toEqual({
    faults: 5,
    unreadBodies: 0,
    lateBodies: 0,
    unseen: 3,
    pausedUntilMs: nowMs + usualPauseMs,
  });
  nowMs += usualPauseMs;
  watching.begin(() => start);
  expect([begun, watching.state().pausedUntilMs]).toEqual([6, nowMs + usualPauseMs]);
  nowMs += usualPauseMs;
  isBroken = false;
  const watch = watching.begin(() => start);
  watch?.end({ how: "complete", endMs: 0, firstByteMs: null });
  await turn();
  isBroken = true;
  watching.begin(() => start);
  expect(watching.state().pausedUntilMs).toBe(null);
  expect(problems).toEqual([
    "an exchange was not recorded: broken",
    "nothing is recorded for 60 s after 5 faults in a row; requests are forwarded as before",
    "exchanges are recorded again",
    "nothing is recorded for 60 s after 5 faults in a row; requests are forwarded as before",
    "exchanges are recorded again",
    "an exchange was not recorded: broken",
  ]);
});

test("a clock that is set back by a day does not leave the observer out for a day", () => {
  let nowMs = 100_000_000;
  const watching = watchExchanges({
    observer: {
      begin: () => {
        throw new Error("broken");
      },
    },
    bodyBytesMax: 1000,
    onProblem: () => {},
    now: () => nowMs,
  });
  for (let fault = 1; fault <= 6; fault += 1) watching.begin(() => start);
  expect(watching.state()).toMatchObject({ faults: 5, unseen: 1 });
  nowMs -= 86_400_000;
  watching.begin(() => start);
  expect(watching.state()).toMatchObject({ faults: 6, unseen: 1 });
});

test("what is kept for the observer has a limit over all exchanges", () => {
  const { observer } = createSeeing();
  const watching = watchExchanges({ observer, bodyBytesMax: 100, onProblem: () => {} });
  const open = Array.from({ length: 5 }, () => watching.begin(() => start));
  for (const watch of open) watch?.requestBytes(new Uint8Array(100));
  expect(watching.state().unreadBodies).toBe(1);
});
