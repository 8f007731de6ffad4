// The Anthropic surface: messages, token counts and models.
import { noRetry, type Route, type Surface } from "../surface.ts";
import { countMessageTokens, createMessage } from "./create-message.ts";
import { createPromptMemory } from "./diagnostics.ts";
import { listModels, modelsByName, showModel } from "./models-list.ts";
import { Refusal, refusalResponse } from "./refusal.ts";
import { answerOrRefuse, authenticate, faultResponse } from "./request-headers.ts";

/** Create one per simulator: it stores prompts for cache diagnostics. */
export function createAnthropicSurface(): Surface {
  const memory = createPromptMemory();
  return {
    name: "anthropic",
    authenticate,
    fault: faultResponse,
    isClient: (headers) => headers.has("anthropic-version") || headers.has("x-api-key"),
    refuse: ({ status, message }, { newId }) => {
      const type = { 404: "not_found_error", 413: "request_too_large", 500: "api_error" } as const;
      return refusalResponse(new Refusal(type[status], message), newId("req_"), noRetry);
    },
    routes: [
      {
        method: "POST",
        path: "/v1/messages",
        handle: (request, context) =>
          answerOrRefuse(request, context, (call) => createMessage(request, call, context, memory)),
      },
      {
        method: "POST",
        path: "/v1/messages/count_tokens",
        handle: (request, context) =>
          answerOrRefuse(request, context, (call) => countMessageTokens(request, call, context)),
      },
      {
        method: "GET",
        path: "/v1/models",
        handle: (request, context) =>
          answerOrRefuse(request, context, () => listModels(request.query)),
      },
      ...[...modelsByName].map(([name, facts]): Route => ({
        method: "GET",
        path: `/v1/models/${name}`,
        handle: (request, context) => answerOrRefuse(request, context, () => showModel(facts)),
      })),
    ],
  };
}
