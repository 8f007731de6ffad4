// A parsed request: model, tools, system text, contents and settings.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { BillableRequest } from "../../billing/billable-request.ts";
import { compactJson } from "../../json-source.ts";
import { invalid, notSimulated, ownWording } from "../api-error.ts";
import type { Content, Part } from "./contents.ts";
import { fields, find, findWhole, type Place } from "./fields.ts";
import { readContents, readSystem } from "./read-contents.ts";
import { readToolChoice, readTools, type ToolChoice, type ToolEntry } from "./read-tools.ts";

export interface ReadRequest extends PromptPart {
  /** As the client spelled it, without `models/`. */
  readonly model: string;
  readonly facts: ModelFacts;
  /** The name of a stored prefix; null without one. */
  readonly cachedContent: string | null;
  readonly settings: Settings;
}

/** What is sent as prompt: in a request, or in a stored prefix. */
export interface PromptPart {
  readonly tools: readonly ToolEntry[];
  readonly toolChoice: ToolChoice;
  readonly system: readonly Part[];
  readonly contents: readonly Content[];
}

export interface Settings {
  readonly outputTokensMax: number | null;
  readonly thinks: boolean;
  readonly showsThoughts: boolean;
  /** Whether it is billed at the usual prices. Our facts have no others. */
  readonly isStandardTier: boolean;
  readonly billable: BillableRequest["settings"];
}

export function readRequest(body: Place, model: string, facts: ModelFacts): ReadRequest {
  const prompt = readPromptPart(body);
  const cachedContent = fields.findText(body, "cachedContent");
  if (cachedContent !== null && usesOwnHead(body)) {
    throw invalid(
      "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request.",
    );
  }
  if (prompt.contents.length === 0) {
    throw invalid("* GenerateContentRequest.contents: contents is not specified\n");
  }
  return { ...prompt, model, facts, cachedContent, settings: readSettings(body, facts) };
}

export function readPromptPart(body: Place): PromptPart {
  return {
    tools: readTools(body),
    toolChoice: readToolChoice(body),
    system: readSystem(body),
    contents: readContents(body),
  };
}

function usesOwnHead(body: Place): boolean {
  const has = (key: string): boolean => find(body, key) !== null;
  const tools = fields.findList(body, "tools") ?? [];
  return has("systemInstruction") || has("toolConfig") || tools.length > 0;
}

const none: Place = { object: { kind: "object", fields: new Map() }, path: "generationConfig" };

function readSettings(body: Place, facts: ModelFacts): Settings {
  const config = fields.findPlace(body, "generationConfig") ?? none;
  if ((findWhole(config, "candidateCount") ?? 1) > 1) {
    throw notSimulated("More than one candidate");
  }
  if (fields.findText(body, "continuationToken") !== null) throw notSimulated("continuationToken");
  const thinking = readThinking(config, facts);
  const format = formatOf(config);
  return {
    outputTokensMax: readOutputLimit(config),
    thinks: thinking.thinks,
    showsThoughts: thinking.shows,
    isStandardTier: isStandard(fields.findText(body, "serviceTier")),
    billable: {
      ...(thinking.source === "" ? {} : { thinking: thinking.source }),
      ...(format === "" ? {} : { "output format": format }),
    },
  };
}

function isStandard(tier: string | null): boolean {
  return tier === null || /^(?:standard|unspecified|service_tier_unspecified)$/i.test(tier);
}

function readOutputLimit(config: Place): number | null {
  const limit = findWhole(config, "maxOutputTokens");
  // Google's readers take 0 for a field that is not set.
  if (limit === 0) return null;
  if (limit !== null && limit < 0) {
    throw invalid(`max_output_tokens must be positive, but it is ${limit}. ${ownWording}`);
  }
  return limit;
}

const levels = ["THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"];

function readThinking(
  config: Place,
  { capabilities }: ModelFacts,
): { readonly thinks: boolean; readonly shows: boolean; readonly source: string } {
  const place = fields.findPlace(config, "thinkingConfig");
  if (place === null) return { thinks: capabilities.thinking, shows: false, source: "" };
  const budget = findWhole(place, "thinkingBudget");
  const level = fields.findText(place, "thinkingLevel");
  if (level !== null && !levels.includes(level.toUpperCase())) {
    fields.findOneOf(place, "thinkingLevel", levels);
  }
  if (budget !== null && level !== null) {
    // The documents say that both together are a 400.
    throw invalid(`Set one of thinking_budget and thinking_level, not both. ${ownWording}`);
  }
  return {
    thinks: capabilities.thinking && budget !== 0,
    shows: fields.findFlag(place, "includeThoughts") ?? false,
    source: compactJson(place.object),
  };
}

function formatOf(config: Place): string {
  const keys = ["responseMimeType", "responseSchema", "responseJsonSchema", "responseFormat"];
  return keys
    .flatMap((key) => {
      const value = find(config, key);
      return value === null ? [] : [`${key}=${compactJson(value)}`];
    })
    .filter((text) => text !== 'responseMimeType="text/plain"')
    .join(";");
}
