// The OpenAI surface: chat completions, responses, counting, compaction and the list of models.
import { listModels } from "../../core/models/catalogue.ts";
import {
  noRetry,
  type Route,
  type SimRequest,
  type SimResponse,
  type Surface,
  type SurfaceContext,
} from "../surface.ts";
import { ApiError, toErrorResponse, toErrorEvent, toFault } from "./api-error.ts";
import { answerChat } from "./chat-completions.ts";
import { answerCompact, answerResponses, countInputTokens } from "./responses.ts";
import { jsonHeaders } from "./headers.ts";
import type { Known } from "./request/read-responses.ts";
import { createResponseStore } from "./stored-responses.ts";

export interface OpenaiSurfaceOptions {
  /** How many responses are stored for previous_response_id and diagnostics. */
  readonly responsesMax?: number;
  /** How many characters the stored responses hold in total. */
  readonly responseCharactersMax?: number;
}

export function createOpenaiSurface(options: OpenaiSurfaceOptions = {}): Surface {
  const store = createResponseStore(options.responsesMax, options.responseCharactersMax);
  const known = ({ workspace }: SurfaceContext): Known => ({ store, workspace });
  return {
    name: "openai",
    authenticate,
    fault: toFault,
    errorEvent: toErrorEvent,
    // Its clients send no header of their own, so every other client counts as one.
    isClient: () => true,
    refuse: ({ status, message }, context) => {
      const type = status === 500 ? "server_error" : "invalid_request_error";
      return toErrorResponse(status, { message, type, param: null, code: null }, context, noRetry);
    },
    routes: [
      post("/v1/chat/completions", answerChat),
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
        handle: (_request, context) => answerModels(context),
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

/** OpenAI's models in the catalogue that are not retired. */
function answerModels(context: SurfaceContext): SimResponse {
  const data = listModels()
    .filter(({ provider, lifecycle }) => provider === "openai" && lifecycle.status !== "retired")
    .map(({ id, lifecycle }) => ({
      id,
      object: "model",
      created: lifecycle.releasedOn === null ? 0 : Date.parse(lifecycle.releasedOn) / 1000,
      owned_by: "openai",
    }));
  const body = JSON.stringify({ object: "list", data });
  return { status: 200, headers: jsonHeaders(context), body };
}

/** Authorization: Bearer KEY. Any key is accepted; it only decides who shares a cache. */
function authenticate(
  request: SimRequest,
  context: Pick<SurfaceContext, "newId">,
): ReturnType<Surface["authenticate"]> {
  const header = request.headers.get("authorization")?.trim() ?? "";
  const key = /^bearer\s+(\S.*)$/i.exec(header)?.[1];
  if (key !== undefined) return { key };
  const isEmpty = header === "" || /^bearer$/i.test(header);
  const type = "invalid_request_error";
  const body = isEmpty
    ? { message: noKey, type, param: null, code: null }
    : { message: wrongKey, type, param: null, code: "invalid_api_key" };
  return { refusal: toErrorResponse(401, body, context) };
}

const noKey =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys.";

/** The provider shows part of the key; the simulator shows none of it. */
const wrongKey =
  "Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.";
