// Finds the model of a request on OpenAI's own API.
import type { Catalogue } from "../../../core/models/catalogue.ts";
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { findModel } from "../../../core/models/resolve-model.ts";
import { ApiError } from "../api-error.ts";

const ownRoute = "openai-api";

/** Finds only OpenAI's own model ids. */
export function findOpenaiModel(name: string, catalogue: Catalogue): ModelFacts {
  const found = name.includes("/") ? null : findModel(name, catalogue);
  const facts = found?.facts;
  if (facts === undefined || facts.provider !== "openai" || facts.route !== ownRoute) {
    const known = `The model \`${name}\` does not exist or you do not have access to it.`;
    throw notFound(known);
  }
  if (facts.lifecycle.status === "retired") {
    throw notFound(
      `The model \`${name}\` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations`,
    );
  }
  return facts;
}

function notFound(message: string): ApiError {
  const code = "model_not_found";
  return new ApiError(404, { message, type: "invalid_request_error", param: null, code });
}
