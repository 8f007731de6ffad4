// The model of a name in a location of Vertex; prices and rules depend on both.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { GoogleError } from "./google-error.ts";

/** Names in the spelling of other routes are refused. */
export function modelAt(
  { project = "", location = "" }: Readonly<Record<string, string>>,
  name: string,
): ModelFacts {
  const isSpelledSo = /^claude-[a-z0-9-]+(?:@\w+)?$/.test(name) && /^[a-z0-9-]+$/.test(location);
  // The project changes nothing about the model, and may be spelled in any way.
  const path = `projects/any/locations/${location}/publishers/anthropic/models/${name}`;
  const found = isSpelledSo ? findModel(path) : null;
  if (found !== null && found.route === "vertex") return found.facts;
  throw new GoogleError(
    "NOT_FOUND",
    `Publisher Model \`projects/${project}/locations/${location}/publishers/anthropic/models/${name}\` was not found or your project does not have access to it. Please ensure you are using a valid model version. For more information, see: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/model-versions`,
  );
}
