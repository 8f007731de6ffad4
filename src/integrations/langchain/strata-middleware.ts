// A middleware for LangChain's agents: tools in one order, and the model's calls marked, explained and recorded.
import { createMiddleware, type AgentMiddleware } from "langchain";
import {
  openWatchedFetch,
  type WatchedFetch,
  type WatchedFetchOptions,
} from "../sdk/watched-fetch.ts";
import { withStrata, type SdkClient } from "../sdk/with-strata.ts";

/** Of a watched fetch, or one that is open already. */
export type StrataMiddlewareOptions = WatchedFetchOptions & {
  /** Shared with other agents and clients; then its owner closes it, and its own options hold. */
  readonly watched?: WatchedFetch;
};

export interface StrataMiddleware extends AgentMiddleware, Pick<WatchedFetch, "flush" | "close"> {}

/** Close it when the agent is done: that writes what is left. */
export function strataMiddleware(options: StrataMiddlewareOptions = {}): StrataMiddleware {
  const { watched: shared, ...own } = options;
  const watched = shared ?? openWatchedFetch(own);
  const { onProblem = warn } = own;
  const copies = new WeakMap<object, object>();
  const watch = <Model extends object>(model: Model): Model => {
    const known = copies.get(model);
    // A copy is of its model's type.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (known !== undefined) return known as Model;
    const copy = watchModel(model, watched);
    if (copy === null) {
      onProblem(
        "the calls of this model are neither marked nor recorded: strataMiddleware takes an instance of ChatAnthropic, not a name or another class",
      );
    }
    copies.set(model, copy ?? model);
    return copy ?? model;
  };
  const middleware = createMiddleware({
    name: "StrataMiddleware",
    wrapModelCall: (request, next) =>
      next({
        ...request,
        model: watch(request.model),
        // Tools are the first bytes of a prompt: the same ones in another order are another prompt.
        tools: request.tools.toSorted((one, other) => compare(nameOf(one), nameOf(other))),
      }),
  });
  const close = shared === undefined ? () => watched.close() : () => watched.flush();
  return Object.assign(middleware, { flush: () => watched.flush(), close });
}

type CreateClient = (options: unknown) => SdkClient;

/** A copy whose provider's client sends through a watched fetch. Null for a model that makes no client of a provider's SDK itself, as ChatAnthropic does. */
function watchModel<Model extends object>(
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

/** A tool of ours has a name; one that the provider runs, at least a type. */
function nameOf(tool: object): string {
  const named = [Reflect.get(tool, "name"), Reflect.get(tool, "type")];
  return named.find((each): each is string => typeof each === "string") ?? "";
}

/** Not by the locale, which is another one elsewhere. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function warn(problem: string): void {
  process.emitWarning(problem);
}
