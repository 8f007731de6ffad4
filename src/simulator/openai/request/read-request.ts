// A parsed request of either API, for rendering, billing and answering.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { CacheOptions } from "./read-cache-options.ts";
import type { Item, ToolDefinition } from "./items.ts";
import type { Settings } from "./read-settings.ts";
import type { ToolChoice } from "./read-tool-choice.ts";
import type { ToolEntry } from "./read-tools.ts";

export interface ReadRequest {
  readonly api: "chat" | "responses";
  /** As the client spelled it. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly tools: readonly ToolEntry[];
  readonly instructions: string | null;
  readonly items: readonly Item[];
  readonly cache: CacheOptions;
  readonly settings: Settings;
  readonly toolChoice: ToolChoice;
  readonly outputTokensMax: number | null;
}

/** Tools the simulated model may call: from the request and from items. */
export function callableTools({ tools, items }: ReadRequest): readonly ToolDefinition[] {
  const own = tools.flatMap((entry) => entry.tools).filter(({ isDeferred }) => !isDeferred);
  const added = items.flatMap((item) => (item.kind === "tools" ? item.tools : []));
  return [...own, ...added].filter(({ kind }) => kind !== "hosted");
}

/** The last change in the conversation overrides the request. */
export function effortOf({ items, settings }: ReadRequest): string {
  const last = items.findLast((item) => item.kind === "configuration" && item.effort !== null);
  return last?.kind === "configuration" && last.effort !== null ? last.effort : settings.effort;
}
