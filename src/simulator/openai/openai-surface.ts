// The OpenAI surface: chat completions, responses, counting, compaction and the list of models.
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import type { Route, Surface, SurfaceContext } from "../surface.ts";
import { ApiError, toErrorResponse } from "./api-error.ts";
import { authenticate } from "./authenticate.ts";
import { answerChat } from "./chat-completions.ts";
import { answerCompact } from "./compact.ts";
import { toFault } from "./faults.ts";
import { answerModels } from "./list-models.ts";
import type { Known } from "./read-responses.ts";
import { answerResponses, countInputTokens } from "./responses.ts";
import { createResponseStore } from "./stored-responses.ts";

export interface OpenaiSurfaceOptions {
  readonly catalogue?: Catalogue;
  /** How many responses are stored for previous_response_id and diagnostics. */
  readonly responsesMax?: number;
  /** How many characters the stored responses hold in total. */
  readonly responseCharactersMax?: number;
}

export function createOpenaiSurface(options: OpenaiSurfaceOptions = {}): Surface {
  const catalogue = options.catalogue ?? builtInCatalogue;
  const store = createResponseStore(options.responsesMax, options.responseCharactersMax);
  const known = ({ workspace }: SurfaceContext): Known => ({ catalogue, store, workspace });
  return {
    name: "openai",
    authenticate,
    fault: toFault,
    routes: [
      post("/v1/chat/completions", (request, context) => answerChat(request, context, catalogue)),
      post("/v1/responses", (request, context) =>
        answerResponses(request, context, known(context)),
      ),
      post("/v1/responses/input_tokens", (request, context) =>
        countInputTokens(request, context, known(context)),
      ),
      post("/v1/responses/compact", (request, context) =>
        answerCompact(request, context, known(context)),
      ),
      {
        method: "GET",
        path: "/v1/models",
        handle: (_request, context) => answerModels(context, catalogue),
      },
    ],
  };
}

/** Turns errors of the request into answers; our own errors pass through. */
function post(path: string, handle: Route["handle"]): Route {
  return {
    method: "POST",
    path,
    handle: (request, context) => {
      try {
        return handle(request, context);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return toErrorResponse(error.status, error.body, context);
      }
    },
  };
}
