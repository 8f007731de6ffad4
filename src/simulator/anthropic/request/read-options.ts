// Reads the options of a request: thinking, tool choice, effort, limits.
import { compactJson, type JsonObject } from "../../json-source.ts";
import {
  asBoolean,
  asInteger,
  asList,
  asObject,
  asOneOf,
  asText,
  fieldOf,
  optional,
  refuseExtras,
} from "./read-fields.ts";
import { extraInput, invalid, notSimulated } from "../refusal.ts";

export interface RequestOptions {
  /** Null if tokens are only counted. */
  readonly maxTokens: number | null;
  readonly stream: boolean;
  readonly stopSequences: readonly string[];
  readonly thinking: ReadThinking | null;
  readonly toolChoice: ToolChoice;
  readonly parallelToolUse: boolean;
  readonly effort: string | null;
  readonly outputFormat: string | null;
  readonly speed: "standard" | "fast";
  /** Whether the client asked context editing to keep all thinking. */
  readonly keepsAllThinking: boolean;
  readonly hasContextManagement: boolean;
  readonly taskBudgetRemaining: boolean;
  readonly compaction: { readonly instructions: string | null } | null;
  /** Null if the client did not ask for diagnostics. */
  readonly diagnostics: { readonly previousMessageId: string | null } | null;
}

export interface ReadThinking {
  readonly type: (typeof thinkingTypes)[number];
  readonly budgetTokens: number | null;
  readonly display: string | null;
  readonly onMismatch: "error" | "drop_block";
}

export type ToolChoice = "auto" | "none" | "any" | { readonly name: string };

export const bindingBeta = "thinking-binding-controls-2026-08-01";

const thinkingTypes = ["enabled", "disabled", "adaptive", "between_tools"] as const;
const efforts = ["low", "medium", "high", "xhigh", "max"] as const;

export function readOptions(body: JsonObject, betas: ReadonlySet<string>): RequestOptions {
  const output = optional(body, "output_config", "", asObject);
  const format = output === null ? null : fieldOf(output, "format");
  const budget =
    output === null ? null : optional(output, "task_budget", "output_config", asObject);
  return {
    maxTokens: optional(body, "max_tokens", "", asInteger),
    stream: optional(body, "stream", "", asBoolean) ?? false,
    stopSequences:
      optional(body, "stop_sequences", "", asList)?.items.map((item, index) =>
        asText(item, `stop_sequences.${index}`),
      ) ?? [],
    thinking: readThinking(body, betas),
    ...readToolChoice(body),
    effort: output === null ? null : readEffort(output, "output_config"),
    outputFormat: formatText(format ?? fieldOf(body, "output_format")),
    speed:
      optional(body, "speed", "", (value, path) =>
        asOneOf(value, ["standard", "fast"] as const, path),
      ) ?? "standard",
    ...readContextManagement(body, betas),
    taskBudgetRemaining: budget !== null && fieldOf(budget, "remaining") !== null,
    compaction: readCompaction(body, betas),
    diagnostics: readDiagnostics(body),
  };
}

/** The effort in an output_config, or null. */
export function readEffort(config: JsonObject, path: string): string | null {
  return optional(config, "effort", path, (value, at) => asOneOf(value, efforts, at));
}

function formatText(format: ReturnType<typeof fieldOf>): string | null {
  return format === null ? null : compactJson(format);
}

function readThinking(body: JsonObject, betas: ReadonlySet<string>): ReadThinking | null {
  const thinking = optional(body, "thinking", "", asObject);
  if (thinking === null) return null;
  const type = asOneOf(fieldOf(thinking, "type"), thinkingTypes, "thinking.type");
  const path = `thinking.${type}`;
  refuseExtras(thinking, thinkingFields[type], path);
  if (thinking.fields.has("block_binding") && !betas.has(bindingBeta))
    throw extraInput(`${path}.block_binding`);
  const budgetTokens =
    type === "enabled"
      ? asInteger(fieldOf(thinking, "budget_tokens"), `${path}.budget_tokens`)
      : null;
  if (budgetTokens !== null && budgetTokens < 1024)
    throw invalid(`${path}.budget_tokens: Input should be greater than or equal to 1024`);
  const binding = optional(thinking, "block_binding", path, asObject);
  const onMismatch =
    binding === null
      ? null
      : optional(binding, "prefix_mismatch_behavior", `${path}.block_binding`, (value, at) =>
          asOneOf(value, ["error", "drop_block"] as const, at),
        );
  return {
    type,
    budgetTokens,
    display: optional(thinking, "display", path, asText),
    onMismatch: onMismatch ?? "error",
  };
}

const thinkingFields: Readonly<Record<ReadThinking["type"], ReadonlySet<string>>> = {
  enabled: new Set(["type", "budget_tokens", "display", "block_binding"]),
  adaptive: new Set(["type", "display", "block_binding"]),
  disabled: new Set(["type"]),
  between_tools: new Set(["type"]),
};

function readToolChoice(body: JsonObject): Pick<RequestOptions, "toolChoice" | "parallelToolUse"> {
  const choice = optional(body, "tool_choice", "", asObject);
  if (choice === null) return { toolChoice: "auto", parallelToolUse: true };
  const types = ["auto", "any", "tool", "none"] as const;
  const type = asOneOf(fieldOf(choice, "type"), types, "tool_choice.type");
  const path = `tool_choice.${type}`;
  const disabled = optional(choice, "disable_parallel_tool_use", path, asBoolean) ?? false;
  return {
    toolChoice: type === "tool" ? { name: asText(fieldOf(choice, "name"), `${path}.name`) } : type,
    parallelToolUse: !disabled,
  };
}

/** Simulates only "keep all thinking"; other edits would change the prompt and its price. */
function readContextManagement(
  body: JsonObject,
  betas: ReadonlySet<string>,
): Pick<RequestOptions, "keepsAllThinking" | "hasContextManagement"> {
  const management = optional(body, "context_management", "", asObject);
  if (management === null) return { keepsAllThinking: false, hasContextManagement: false };
  const allowed = ["context-management-2025-06-27", "compact-2026-01-12"];
  if (!allowed.some((beta) => betas.has(beta))) throw extraInput("context_management");
  const edits = optional(management, "edits", "context_management", asList)?.items ?? [];
  let keepsAllThinking = false;
  for (const [index, item] of edits.entries()) {
    const path = `context_management.edits.${index}`;
    const edit = asObject(item, path);
    const type = asText(fieldOf(edit, "type"), `${path}.type`);
    const keep = fieldOf(edit, "keep");
    const keepText = keep?.kind === "object" ? fieldOf(keep, "type") : keep;
    const keepsAll = keepText?.kind === "string" && keepText.text === "all";
    if (type !== "clear_thinking_20251015" || !keepsAll) throw notSimulated(`${path}.${type}`);
    keepsAllThinking = true;
  }
  return { keepsAllThinking, hasContextManagement: true };
}

function readCompaction(
  body: JsonObject,
  betas: ReadonlySet<string>,
): RequestOptions["compaction"] {
  const compaction = optional(body, "compaction", "", asObject);
  if (compaction === null) return null;
  if (!betas.has(compactionBeta))
    throw invalid(`compaction: requires anthropic-beta: ${compactionBeta}`);
  refuseExtras(compaction, new Set(["type", "instructions"]), "compaction");
  asOneOf(fieldOf(compaction, "type"), ["summarize"], "compaction.type");
  const instructions = optional(compaction, "instructions", "compaction", asText)?.trim() ?? "";
  if (instructions.length > 16_384)
    throw invalid("compaction.instructions: String should have at most 16384 characters");
  return { instructions: instructions === "" ? null : instructions };
}

export const compactionBeta = "compact-2026-09-04";

function readDiagnostics(body: JsonObject): RequestOptions["diagnostics"] {
  const diagnostics = optional(body, "diagnostics", "", asObject);
  if (diagnostics === null) return null;
  refuseExtras(diagnostics, new Set(["previous_message_id"]), "diagnostics");
  const previous = optional(diagnostics, "previous_message_id", "diagnostics", asText);
  return { previousMessageId: previous };
}
