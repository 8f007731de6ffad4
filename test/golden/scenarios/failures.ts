// Providers that fail, in their own words.
import type { FaultSpec } from "../kit.ts";
import { asks, look, script } from "../replies.ts";
import type { Scenario, Scenarios } from "../scenario.ts";

const talk = script(
  { text: "Hello." },
  asks("Looking.", look("a.ts")),
  { text: "It is line 3." },
  { text: "You are welcome." },
  { text: "Goodbye." },
);

/** Long enough to break in the middle. */
const longTalk = script(
  { text: "Hello." },
  { text: "It is line 3 of the file that nobody reads. ".repeat(20) },
  { text: "You are welcome." },
  { text: "Goodbye." },
);

/** A whole turn, one that is struck, and one after it. */
function struckBy(stream: boolean, ...faults: readonly FaultSpec[]): Scenario {
  const isBroken = faults.some(({ kind }) => kind === "cut" || kind === "malformed");
  return {
    answer: isBroken ? longTalk : talk,
    play: async (stage) => {
      const process = await stage.start({ stream });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Hello.");
      stage.simulator.fault(...faults);
      await process.say(session, "Why is CI red?");
      await process.say(session, "Thank you.");
      await process.end();
    },
  };
}

/** As each provider says it. */
function refusal(status: number, type: string): Response {
  const error = { type, code: null, message: "The request was not to our liking." };
  return Response.json({ type: "error", error }, { status });
}

export const failures: Scenarios = {
  "failure-rate-limited": struckBy(true, { kind: "rate limited", retryAfterSeconds: 2 }),
  "failure-server-error": struckBy(true, { kind: "server error", count: 3 }),
  "failure-overloaded": struckBy(false, { kind: "overloaded" }),
  "failure-cut-stream": struckBy(true, { kind: "cut", afterEvents: 6 }),
  "failure-cut-whole": struckBy(false, { kind: "cut" }),
  "failure-malformed": struckBy(true, { kind: "malformed", afterEvents: 6 }),

  /** Before a call, and between two. */
  "failure-refused": {
    answer: talk,
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      stage.onRequest(1, () => refusal(400, "invalid_request_error"));
      await process.say(session, "Is anybody there?");
      await process.say(session, "Hello.");
      stage.onRequest(4, () => refusal(401, "authentication_error"));
      await process.say(session, "Why is CI red?");
      await process.say(session, "Thank you.");
      await process.end();
    },
  },
};
