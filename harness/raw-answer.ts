// One request to the simulator without a socket, and its answer as bytes.
import { toEndpoint } from "../src/core/wire/access.ts";
import { bodyText, type EncodedRequest } from "../src/core/wire/encoded-request.ts";
import type { ProviderFailure } from "../src/core/wire/failure.ts";
import type { Protocol, ServerEvent } from "../src/core/wire/protocol.ts";
import type { Reply } from "../src/core/wire/reply.ts";
import { findEffects, findStreamForm } from "../src/edge/providers/wire-effects.ts";
import type { Simulator } from "../src/simulator/simulator.ts";
import { plantedKey } from "./planted-key.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

export async function askRaw(
  simulator: Simulator,
  protocol: Protocol,
  request: EncodedRequest,
): Promise<RawAnswer> {
  const { baseUrl, credentials } = toEndpoint(protocol.access, { apiKey: plantedKey });
  // The simulator uses the same paths as the vendors.
  const place = new URL(`${baseUrl}${request.path}`);
  const response = await simulator.fetch(`http://127.0.0.1${place.pathname}${place.search}`, {
    method: "POST",
    headers: { ...request.headers, ...credentials, "content-type": "application/json" },
    body: bodyText(request.pieces),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}

/** The events of a streamed answer; null for a whole one. */
export function eventsIn(protocol: Protocol, { headers, bytes }: RawAnswer): ServerEvent[] | null {
  const form = findStreamForm(headers["content-type"], findEffects(protocol));
  if (form === undefined) return null;
  const events: ServerEvent[] = [];
  form((event) => events.push(event)).feed(bytes);
  return events;
}

export function decodeAnswer(protocol: Protocol, answer: RawAnswer): Reply | ProviderFailure {
  const { status, headers, bytes } = answer;
  if (status >= 400) {
    return protocol.readFailure({ status, headers, body: textOf(bytes), nowMs: 0 });
  }
  const events = eventsIn(protocol, answer);
  return events === null ? protocol.decode(textOf(bytes)) : decodeEvents(protocol, events);
}

export function decodeEvents(
  { stream }: Protocol,
  events: readonly ServerEvent[],
): Reply | ProviderFailure {
  let state = stream.start;
  for (const event of events) [state] = stream.step(state, event);
  return stream.finish(state);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
