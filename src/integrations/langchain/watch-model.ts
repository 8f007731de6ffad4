// A copy of a chat model whose provider's client sends through a watched fetch. The given model stays as it is.
import type { WatchedFetch } from "../sdk/watched-fetch.ts";
import { withStrata, type SdkClient } from "../sdk/with-strata.ts";

type CreateClient = (options: unknown) => SdkClient;

/** Null for a model that makes no client of a provider's SDK itself, as ChatAnthropic does. */
export function watchModel<Model extends object>(
  model: Model,
  watched: Pick<WatchedFetch, "wrap">,
): Model | null {
  const createClient: unknown = Reflect.get(model, "createClient");
  if (!isCreateClient(createClient)) return null;
  const prototype: object | null = Object.getPrototypeOf(model);
  const copy: Model = Object.assign(Object.create(prototype), model);
  return Object.assign(copy, {
    createClient: (options: unknown) => withStrata(createClient(options), watched),
    // Made by the model for its first call; the copy makes its own.
    batchClient: undefined,
    streamingClient: undefined,
  });
}

function isCreateClient(value: unknown): value is CreateClient {
  return typeof value === "function";
}
