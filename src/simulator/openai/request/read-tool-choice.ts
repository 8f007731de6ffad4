// tool_choice of both APIs: auto, none, required, one tool, or a list of allowed tools.
import { missing, wrongValue } from "../api-error.ts";
import { find, findPlace, findPlaces, findText, textAt, unfit, type Place } from "./fields.ts";

export interface ToolChoice {
  readonly choice: "auto" | "none" | "any" | { readonly name: string };
  /** Null if every tool is allowed. */
  readonly allowed: readonly string[] | null;
}

const words = { none: "none", auto: "auto", required: "any" } as const;

export function readToolChoice(body: Place): ToolChoice {
  const value = find(body, "tool_choice");
  if (value === null) return { choice: "auto", allowed: null };
  if (value.kind === "string") {
    const choice = Object.entries(words).find(([word]) => word === value.text)?.[1];
    if (choice === undefined) throw wrongValue("tool_choice", value.text, Object.keys(words));
    return { choice, allowed: null };
  }
  const place = findPlace(body, "tool_choice");
  if (place === null) throw unfit(body, "tool_choice", "one of a string or an object", value);
  const type = textAt(place, "type");
  if (type === "allowed_tools") {
    const set = findPlace(place, "allowed_tools") ?? place;
    const allowed = (findPlaces(set, "tools") ?? []).map(nameIn);
    return { choice: findText(set, "mode") === "required" ? "any" : "auto", allowed };
  }
  if (type === "function" || type === "custom") {
    const name = nameIn(place);
    if (name === "") throw missing("tool_choice.name");
    return { choice: { name }, allowed: null };
  }
  return { choice: "auto", allowed: null };
}

/** Chat nests the name under the tool's type, Responses does not. */
function nameIn(place: Place): string {
  const nested = findPlace(place, textAt(place, "type"));
  return findText(nested ?? place, "name") ?? "";
}
