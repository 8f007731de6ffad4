// Reads a Chat Completions request as servers of other vendors take it.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { Keeping } from "../billing/billable-request.ts";
import { compactJson } from "../json-source.ts";
import { invalid } from "../openai/api-error.ts";
import { refuseUnsimulated } from "../openai/chat-completions.ts";
import { fields, find, findCount, type Place } from "../openai/request/fields.ts";
import type { Item } from "../openai/request/items.ts";
import { readMessages } from "../openai/request/read-chat-messages.ts";
import type { MarkerReader } from "../openai/request/read-parts.ts";
import type { ReadRequest, Settings } from "../openai/request/read-request.ts";
import { readToolChoice, readTools } from "../openai/request/read-tools.ts";

/** What is not in the body. */
export interface ChatReading {
  readonly facts: ModelFacts;
  /** The member with the thinking of earlier replies; null if the model does not think here. */
  readonly thinking: string | null;
  readonly keeping: Keeping | null;
  /** Whether the markers of models that take some are read here. */
  readonly takesMarkers: boolean;
}

export function readVendorChat(body: Place, reading: ChatReading): ReadRequest {
  const { facts, thinking, keeping, takesMarkers } = reading;
  refuseUnsimulated(body);
  const items = readMessages(body, { markers: markersOf(facts, takesMarkers), thinking });
  checkMarkers(items, facts);
  const settings = readSettings(body, reading);
  return {
    api: "chat",
    model: fields.textAt(body, "model"),
    facts,
    tools: readTools(body, "tools"),
    instructions: null,
    items,
    cache: { mode: modeOf(facts), lifetime: "30m", prewarm: false, comparisonId: null },
    settings,
    toolChoice: readToolChoice(body),
    outputTokensMax:
      findCount(body, "max_tokens", 1) ?? findCount(body, "max_completion_tokens", 1),
    ...(keeping === null ? {} : { keeping }),
  };
}

/** Where the model's own vendor places a marker of its own, it does so behind a router as well. */
function modeOf({ cache }: ModelFacts): "implicit" | "explicit" {
  return cache.automatic?.takesMarkerSlot === true ? "implicit" : "explicit";
}

/** Servers of models without markers ignore them; a router turns them into the vendor's own. */
function markersOf({ cache }: ModelFacts, takesMarkers: boolean): MarkerReader {
  const { markers, lifetimes } = cache;
  return {
    key: "cache_control",
    read: (control) => {
      fields.textAt(control, "type");
      fields.findOneOf(control, "type", ["ephemeral"]);
      const asked = fields.findOneOf(control, "ttl", ["5m", "1h"]) ?? "5m";
      if (markers === null || !takesMarkers) return null;
      const isOffered = lifetimes.some(({ lifetime }) => lifetime === asked);
      const lifetime = isOffered ? asked : (lifetimes[0]?.lifetime ?? asked);
      return { lifetime, path: control.path };
    },
  };
}

function checkMarkers(items: readonly Item[], { cache }: ModelFacts): void {
  const { markers } = cache;
  if (markers === null || markers.excess !== "rejected") return;
  const parts = items.flatMap((item) =>
    item.kind === "message" || item.kind === "tool output" ? item.parts : [],
  );
  const found = parts.filter(({ marker }) => marker !== null).length;
  if (found <= markers.markersMax) return;
  const message = `A maximum of ${markers.markersMax} blocks with cache_control may be provided. Found ${found}.`;
  throw invalid(message, "messages", null);
}

/** Without a way to show thinking the model does none. */
function readSettings(body: Place, { thinking, facts }: ChatReading): Settings {
  const asked = readEffort(body);
  const isOff = isThinkingOff(body);
  const cacheKey = fields.findText(body, "prompt_cache_key");
  const parallelToolCalls = fields.findFlag(body, "parallel_tool_calls") ?? true;
  const format = fields.findPlace(body, "response_format");
  const isPlain = format === null || fields.findText(format, "type") === "text";
  const choice = find(body, "tool_choice");
  const choiceText = choice === null ? "auto" : compactJson(choice);
  return {
    billable: {
      ...(parallelToolCalls ? {} : { "parallel tool use": "false" }),
      ...(isPlain ? {} : { "output format": compactJson(format.object) }),
      ...(asked === null ? {} : { effort: asked }),
      ...(cacheKey === null || facts.cache.markers === null ? {} : { "cache key": cacheKey }),
      ...(choiceText === "auto" || choiceText === '"auto"' ? {} : { "tool choice": choiceText }),
    },
    effort: thinking === null || isOff ? "none" : (asked ?? "medium"),
    verbosity: "medium",
    parallelToolCalls,
    serviceTier: "default",
    cacheKey,
    retention: null,
  };
}

/** At the top level, or in the router's own member. */
function readEffort(body: Place): string | null {
  const reasoning = fields.findPlace(body, "reasoning");
  return (
    fields.findText(body, "reasoning_effort") ??
    (reasoning === null ? null : fields.findText(reasoning, "effort"))
  );
}

function isThinkingOff(body: Place): boolean {
  const thinking = fields.findPlace(body, "thinking");
  return thinking !== null && fields.findText(thinking, "type") === "disabled";
}
