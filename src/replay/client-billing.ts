// Bills recorded requests with the markers of the client that sent them, to compare reads with the recorded ones.
import type { Lifetime } from "../core/message/usage.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { createBilling } from "../simulator/billing/billing.ts";
import type { GrowingPrompt } from "../simulator/billing/growing-prompt.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";
import { usualMarkers, writtenLifetime } from "./recorded-request.ts";

export interface ClientCall {
  readonly request: RecordedRequest;
  /** All blocks of the request, as recorded and as billed. */
  readonly recorded: readonly RecordedBlock[];
  readonly prompt: GrowingPrompt;
  readonly model: ModelFacts;
  readonly mode: "implicit" | "explicit";
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Returns a function that bills the calls of a workspace in order of time and returns the tokens each one reads. A client
 * without recorded markers gets the usual ones, with the lifetime that its bills show.
 */
export function createClientBilling(): (call: ClientCall) => number {
  // Clients send the next request after the response, and entries were seen to live from there.
  const billing = createBilling({ clock: "response end" });
  let lifetime: Lifetime | null = null;
  return ({ request, recorded, prompt, model, mode, startMs, endMs }) => {
    lifetime = writtenLifetime(request.usage) ?? lifetime;
    const { lifetimes } = model.cache;
    const used = lifetimes.find((each) => each.lifetime === lifetime) ?? lifetimes[0];
    const usual = used === undefined ? [] : usualMarkers(recorded, used.lifetime);
    const markers = mode === "explicit" ? (request.markers ?? usual) : [];
    const open = billing.open({
      id: "",
      workspace: "",
      model,
      blocks: prompt.blocks,
      prompt,
      markers: markers
        .map((marker) => ({ ...marker, origin: "explicit" as const }))
        .toSorted((left, right) => left.block - right.block),
      mode,
      settings: {},
      startMs,
    });
    open.begin();
    open.end(endMs);
    return open.bill.readTokens;
  };
}
