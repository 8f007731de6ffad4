// A client of a provider's own SDK whose calls are planned, marked and recorded. Nothing else about it changes.
import { StrataError } from "../../core/strata-error.ts";
import type { Fetch } from "./send-watched.ts";
import { openWatchedFetch, type WatchedFetch } from "./watched-fetch.ts";

/** A client that can be copied with another `fetch`, as those of `@anthropic-ai/sdk` and `openai`, also for Bedrock, Vertex and Azure. */
export interface SdkClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- each SDK has an own type for its options
  withOptions(options: any): unknown;
}

/**
 * A copy of the client that sends through a watched fetch; the given one stays as it is. Without a `watched` of your own, calls are
 * marked and not recorded.
 */
export function withStrata<Client extends SdkClient>(
  client: Client,
  watched: Pick<WatchedFetch, "wrap"> = openWatchedFetch(),
): Client {
  const copy = client.withOptions({ fetch: watched.wrap(fetchOf(client)) });
  if (!isLike(copy, client)) {
    throw new StrataError(
      "input-invalid",
      "the SDK's client cannot be copied with another fetch",
      "give a client of @anthropic-ai/sdk or openai, or give `wrap(fetch)` to your client yourself",
    );
  }
  return copy;
}

/** The client's own, which its user may have set. */
function fetchOf(client: object): Fetch {
  const own: unknown = Reflect.get(client, "fetch");
  return isFetch(own) ? own : globalThis.fetch;
}

function isFetch(value: unknown): value is Fetch {
  return typeof value === "function";
}

function isLike<Client extends SdkClient>(copy: unknown, client: Client): copy is Client {
  return typeof copy === "object" && copy !== null && copy.constructor === client.constructor;
}
