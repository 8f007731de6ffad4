// Faults on the way to a provider: those of the simulator, and those of servers and networks.
import type { Random } from "../../harness/random-message.ts";
import type { ProtocolName } from "../../src/core/wire/protocols.ts";
import type { FaultSpec } from "../../src/simulator/index.ts";
import type { OnRequest, SeenRequest } from "./place.ts";

/** The timeout for a provider; short, so that a run does not take hours. */
export const patienceMs = 300;

export function simulatedFaults(rate: number, seed: number): readonly FaultSpec[] {
  const of: FaultSpec["of"] = [
    { kind: "rate limited", retryAfterSeconds: 0.02 },
    { kind: "rate limited", retryAfterSeconds: 3600 },
    { kind: "rate limited" },
    { kind: "overloaded" },
    { kind: "server error" },
    { kind: "slow first byte", delayMs: 20 },
    { kind: "slow first byte", delayMs: patienceMs * 30 },
    { kind: "stall", afterEvents: 7 },
    { kind: "cut", afterEvents: 0 },
    { kind: "cut", afterEvents: 4 },
    { kind: "cut", afterEvents: 9 },
    { kind: "malformed", afterEvents: 1 },
    { kind: "malformed", afterEvents: 8 },
  ];
  return [{ kind: "random", probability: rate, seed, of }];
}

type WireFault = (request: SeenRequest, protocol: ProtocolName) => Response;

/** Answers repeat the received key wherever a server might. */
const wireFaults: Readonly<Record<string, WireFault>> = {
  reset: () => {
    throw new Error("connection reset by the planted fault");
  },
  "no JSON": (request) =>
    new Response(`<html>${keyIn(request)}`, { headers: { "content-type": "application/json" } }),
  "no events": (request) =>
    new Response(`${keyIn(request)}\n\ndata: {"type": ${keyIn(request)}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    }),
  "key in a refusal": (request) => {
    const error = { type: "authentication_error", message: `invalid key: ${keyIn(request)}` };
    return Response.json({ type: "error", error }, { status: 401 });
  },
  "key in a failure": (request) => {
    const headers = { "request-id": `req_${keyIn(request)}` };
    return new Response(`upstream said no to ${keyIn(request)}`, { status: 500, headers });
  },
  "key in a stream": (request, protocol) =>
    new Response(failingStream[protocol](`cannot serve ${keyIn(request)}`), {
      headers: { "content-type": "text/event-stream" },
    }),
};

export const wireFaultNames: readonly string[] = Object.keys(wireFaults);

const failingMessages = (message: string): string =>
  event({ type: "error", error: { type: "api_error", message } }, "error");

const failingFrames = (message: string): string =>
  event({ message }, "exception:internalServerException");

const failingStream: Readonly<Record<ProtocolName, (message: string) => string>> = {
  "anthropic-messages": failingMessages,
  "openai-chat": (message) => event({ error: { message, type: "server_error" } }),
  "openai-responses": (message) => event({ type: "error", code: "server_error", message }, "error"),
  gemini: (message) => event({ error: { code: 500, message, status: "INTERNAL" } }),
  // A gateway may send the events of frames as server-sent events.
  "bedrock-converse": failingFrames,
  "bedrock-invoke": failingFrames,
  "vertex-anthropic": failingMessages,
};

function event(data: object, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function keyIn({ headers }: SeenRequest): string {
  const names = ["x-api-key", "x-goog-api-key", "authorization"];
  return names.map((name) => headers.get(name)).find((key) => key !== null) ?? "no key";
}

export interface WirePlan {
  readonly protocol: ProtocolName;
  readonly rate: number;
  readonly random: Random;
  readonly count: (fault: string) => void;
}

export function plantWireFaults({ protocol, rate, random, count }: WirePlan): OnRequest {
  return (request) => {
    if (random() >= rate) return undefined;
    const [name, fault] =
      Object.entries(wireFaults)[Math.floor(random() * wireFaultNames.length)] ?? [];
    if (name === undefined || fault === undefined) return undefined;
    count(name);
    return fault(request, protocol);
  };
}
