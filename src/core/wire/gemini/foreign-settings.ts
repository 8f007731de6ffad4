// The settings of generateContent, besides blocks, that may decide whether a prefix is found.
import type { RequestSettings } from "../foreign/foreign-request.ts";
import * as json from "../../message/json-tree.ts";
import { listIn, memberIn, textIn } from "./foreign-members.ts";

/** An explicit default reads as absent. */
export function readSettings(root: json.JsonObject): RequestSettings {
  const config = memberIn(root, "generationConfig");
  const choice = choiceOf(memberIn(memberIn(root, "toolConfig"), "functionCallingConfig"));
  const thinking = memberIn(config, "thinkingConfig");
  const effort = textIn(thinking, "thinkingLevel");
  const budget = memberIn(thinking, "thinkingBudget");
  const format = formatOf(config);
  const tier = textIn(root, "serviceTier");
  return {
    ...(choice === "auto" ? {} : { "tool choice": choice }),
    ...(effort === undefined ? {} : { effort: effort.toLowerCase() }),
    ...(budget === undefined ? {} : { thinking: `a budget of ${json.compactJson(budget)}` }),
    ...(format === null ? {} : { "output format": format }),
    ...(tier === undefined ? {} : { "service tier": tier.toLowerCase() }),
  };
}

function choiceOf(config: json.JsonNode | undefined): string {
  const mode = (textIn(config, "mode") ?? "auto").toLowerCase();
  const names = listIn(config, "allowedFunctionNames").map((name) =>
    name.kind === "string" ? name.text : json.compactJson(name),
  );
  if (mode === "mode_unspecified") return "auto";
  return names.length === 0 ? mode : `${mode} of ${names.join(", ")}`;
}

/** Null for plain text. */
function formatOf(config: json.JsonNode | undefined): string | null {
  const type = textIn(config, "responseMimeType") ?? "text/plain";
  const schema = memberIn(config, "responseJsonSchema") ?? memberIn(config, "responseSchema");
  if (type === "text/plain" && schema === undefined) return null;
  return schema === undefined ? type : `${type} ${json.compactJson(schema)}`;
}
