// The Anthropic surface: messages, token counts and models.
import type { Route, Surface } from "../surface.ts";
import { countMessageTokens, createMessage } from "./create-message.ts";
import { createPromptMemory } from "./diagnostics.ts";
import { listModels, modelsByName, showModel } from "./models-list.ts";
import { answerOrRefuse, authenticate, faultResponse } from "./request-headers.ts";

/** Create one per simulator: it stores prompts for cache diagnostics. */
export function createAnthropicSurface(): Surface {
  const memory = createPromptMemory();
  return {
    name: "anthropic",
    authenticate,
    fault: faultResponse,
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
