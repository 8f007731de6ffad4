// GET /v1/models: OpenAI's models in the catalogue that are not retired.
import { listModels, type Catalogue } from "../../core/models/catalogue.ts";
import type { SimResponse, SurfaceContext } from "../surface.ts";
import { jsonHeaders } from "./headers.ts";

export function answerModels(context: SurfaceContext, catalogue: Catalogue): SimResponse {
  const data = listModels(catalogue)
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
