// The Anthropic surface: messages, token counts and models.
import {
  noRetry,
  type Route,
  type SimRequest,
  type SimResponse,
  type Surface,
  type SurfaceContext,
} from "../surface.ts";
import { countMessageTokens, createMessage } from "./create-message.ts";
import { createPromptMemory } from "./diagnostics.ts";
import { overloadedEvent } from "./reply/write-message.ts";
import { listModels, modelsByName, showModel } from "./models-list.ts";
import { Refusal, refusalResponse } from "./refusal.ts";
import { createThreadStore } from "./threads.ts";
import { answerOrRefuse, authenticate, faultResponse, type ApiCall } from "./request-headers.ts";

/** Create one per simulator: it stores prompts for cache diagnostics, and threads. */
export function createAnthropicSurface(): Surface {
  const remembered = { memory: createPromptMemory(), threads: createThreadStore() };
  return {
    name: "anthropic",
    authenticate,
    fault: faultResponse,
    errorEvent: overloadedEvent,
    isClient: (headers) => headers.has("anthropic-version") || headers.has("x-api-key"),
    refuse: ({ status, message }, { newId }) => {
      const type = { 404: "not_found_error", 413: "request_too_large", 500: "api_error" } as const;
      return refusalResponse(new Refusal(type[status], message), newId("req_"), noRetry);
    },
    routes: [
      route("POST", "/v1/messages", (request, call, context) =>
        createMessage(request, call, context, remembered),
      ),
      route("POST", "/v1/messages/count_tokens", countMessageTokens),
      route("GET", "/v1/models", ({ query }) => listModels(query)),
      ...[...modelsByName].map(([name, facts]) =>
        route("GET", `/v1/models/${name}`, () => showModel(facts)),
      ),
    ],
  };
}

function route(
  method: Route["method"],
  path: string,
  answer: (request: SimRequest, call: ApiCall, context: SurfaceContext) => SimResponse,
): Route {
  return {
    method,
    path,
    handle: (request, context) =>
      answerOrRefuse(request, context, (call) => answer(request, call, context)),
  };
}
