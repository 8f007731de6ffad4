// Ids of tool calls as the server takes them. Those of another model may have another form.
import { hashContent } from "../../../hash.ts";
import type { WireRules } from "../../../models/wire-rules.ts";

/** The same input gives the same id: a call and its result change alike. */
export function toolIdFor(id: string, { toolIds }: Pick<WireRules, "toolIds">): string {
  if (toolIds === "any" || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return hashContent(id).slice(-9);
}
