// Recognises and reads requests of the Responses API from any client.
import { hasMember, memberOf, textOf, type JsonObject } from "../../../message/json-tree.ts";
import type { ForeignReader } from "../../foreign/foreign-reader.ts";
import { markWords } from "../cache.ts";
import { readResponsesShape } from "./read-foreign.ts";

export const foreign: ForeignReader = {
  needs: "input",
  isSentTo: ({ path }) => /\/responses\b/.test(path ?? ""),
  fits,
  hasSigns: (body) => hasMember(body, "input"),
  usualModels: null,
  otherNames: /openai/,
  modelOf: ({ body }) => textOf(body, "model") ?? "",
  read: readResponsesShape,
  cacheDefaults: { mode: "implicit", lifetime: "30m" },
  showsThinking: false,
  marking: {
    // A text is one message of the user.
    open: (body) =>
      typeof body["input"] === "string"
        ? { ...body, input: [{ role: "user", content: body["input"] }] }
        : body,
    toPart: (text) => ({ type: "input_text", text }),
    words: (plan, model) =>
      markWords(plan, model, { lifetimes: ["30m", "12h"], takesCacheKey: true }),
  },
};

/** A conversation that the provider stores may replace the input. A response has instructions, too, but also an output. */
function fits(body: JsonObject): boolean {
  if (memberOf(body, "messages")?.kind === "list") return false;
  if (hasMember(body, "input")) return true;
  return keptMembers.some((member) => hasMember(body, member)) && !hasMember(body, "output");
}

const keptMembers: readonly string[] = ["instructions", "previous_response_id", "conversation"];
