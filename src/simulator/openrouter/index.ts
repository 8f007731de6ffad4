// OpenRouter: one address before several hosts, each with a cache of its own.
import type { Route, SimRequest, Surface, SurfaceContext } from "../surface.ts";
import { answerRoutedChat } from "./answer-chat.ts";
import { answerRoutedMessages } from "./answer-messages.ts";
import { createDesk, type OpenrouterOptions } from "./desk.ts";
import { ofRouter, refuse, refuseMessages, refuseOutside } from "./errors.ts";
import { hostFacts } from "./hosts.ts";
import { answerEndpoints, answerModels } from "./models.ts";

export type { OpenrouterOptions } from "./desk.ts";

/** Its own path, which is the same as the router's, and the folder that it has among other vendors. */
const root = "(?:/vendors/openrouter)?/api";

/** The shares of an 18-turn test, and credit without end. */
export const usualRouting: Omit<OpenrouterOptions, "seed"> = {
  leavesSticky: hostFacts.leavesSticky,
  passesOver: hostFacts.passesOver,
  creditUsd: null,
};

export function createOpenrouterSurface(options: OpenrouterOptions): Surface {
  const desk = createDesk(options);
  return {
    name: "openrouter",
    isClient: (_, path) => /^(?:\/vendors\/openrouter)?\/api\//.test(path),
    authenticate,
    fault: (fault, place) => {
      const isMessages = place.path.endsWith("/v1/messages");
      return (isMessages ? refuseMessages : refuse)(ofRouter(fault), place);
    },
    refuse: ({ status, message }, context) => refuseOutside(status, message, context),
    routes: [
      at("POST", "/v1/chat/completions", (request, context) =>
        answerRoutedChat(request, context, desk),
      ),
      at("POST", "/v1/messages", (request, context) =>
        answerRoutedMessages(request, context, desk),
      ),
      at("GET", "/v1/models", (_, context) => answerModels(context)),
      at("GET", "/v1/models/(?<author>[^/]+)/(?<slug>[^/]+)/endpoints", answerEndpoints),
    ],
  };
}

function at(method: Route["method"], path: string, handle: Route["handle"]): Route {
  return { method, path: new RegExp(`^${root}${path}$`), handle };
}

/** Any key is accepted; each is an account with its own hosts and caches. */
function authenticate(
  { headers }: SimRequest,
  context: Pick<SurfaceContext, "newId">,
): ReturnType<Surface["authenticate"]> {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  const key = bearer ?? headers.get("x-api-key")?.trim();
  if (key !== undefined && key !== "") return { key };
  return { refusal: refuse({ status: 401, message: "No auth credentials found" }, context) };
}
