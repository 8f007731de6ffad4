// Reads the options of a request: thinking, tool choice, effort, limits.
import { compactJson } from "../../json-source.ts";
import { fields, find, refuseExtras, type Place } from "./read-fields.ts";
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

export function readOptions(body: Place, betas: ReadonlySet<string>): RequestOptions {
  const output = fields.findPlace(body, "output_config");
  const budget = output === null ? null : fields.findPlace(output, "task_budget");
  const format = (output === null ? null : find(output, "format")) ?? find(body, "output_format");
  return {
    maxTokens: fields.findInteger(body, "max_tokens"),
    stream: fields.findFlag(body, "stream") ?? false,
    stopSequences: readStopSequences(body),
    thinking: readThinking(body, betas),
    ...readToolChoice(body),
    effort: output === null ? null : readEffort(output),
    outputFormat: format === null ? null : compactJson(format),
    speed: fields.findOneOf(body, "speed", ["standard", "fast"]) ?? "standard",
    ...readContextManagement(body, betas),
    taskBudgetRemaining: budget !== null && find(budget, "remaining") !== null,
    compaction: readCompaction(body, betas),
    diagnostics: readDiagnostics(body),
  };
}

function readStopSequences(body: Place): readonly string[] {
  return (fields.findList(body, "stop_sequences") ?? []).map((item, index) => {
    if (item.kind === "string") return item.text;
    throw invalid(`stop_sequences.${index}: Input should be a valid string`);
  });
}

/** The effort in an output_config, or null. */
export function readEffort(config: Place): string | null {
  return fields.findOneOf(config, "effort", efforts);
}

function readThinking(body: Place, betas: ReadonlySet<string>): ReadThinking | null {
  const thinking = fields.findPlace(body, "thinking");
  if (thinking === null) return null;
  const type = fields.oneOfAt(thinking, "type", thinkingTypes);
  const path = `thinking.${type}`;
  const tagged = { object: thinking.object, path };
  refuseExtras(tagged, thinkingFields[type]);
  if (thinking.object.fields.has("block_binding") && !betas.has(bindingBeta))
    throw extraInput(`${path}.block_binding`);
  const budgetTokens = type === "enabled" ? fields.integerAt(tagged, "budget_tokens") : null;
  if (budgetTokens !== null && budgetTokens < 1024)
    throw invalid(`${path}.budget_tokens: Input should be greater than or equal to 1024`);
  const binding = fields.findPlace(tagged, "block_binding");
  const behaviours = ["error", "drop_block"] as const;
  const onMismatch =
    binding === null ? null : fields.findOneOf(binding, "prefix_mismatch_behavior", behaviours);
  return {
    type,
    budgetTokens,
    display: fields.findText(tagged, "display"),
    onMismatch: onMismatch ?? "error",
  };
}

const thinkingFields: Readonly<Record<ReadThinking["type"], ReadonlySet<string>>> = {
  enabled: new Set(["type", "budget_tokens", "display", "block_binding"]),
  adaptive: new Set(["type", "display", "block_binding"]),
  disabled: new Set(["type"]),
  between_tools: new Set(["type"]),
};

function readToolChoice(body: Place): Pick<RequestOptions, "toolChoice" | "parallelToolUse"> {
  const choice = fields.findPlace(body, "tool_choice");
  if (choice === null) return { toolChoice: "auto", parallelToolUse: true };
  const type = fields.oneOfAt(choice, "type", ["auto", "any", "tool", "none"]);
  const tagged = { object: choice.object, path: `tool_choice.${type}` };
  const isSingle = fields.findFlag(tagged, "disable_parallel_tool_use") ?? false;
  return {
    toolChoice: type === "tool" ? { name: fields.textAt(tagged, "name") } : type,
    parallelToolUse: !isSingle,
  };
}

/** Simulates only "keep all thinking"; other edits would change the prompt and its price. */
function readContextManagement(
  body: Place,
  betas: ReadonlySet<string>,
): Pick<RequestOptions, "keepsAllThinking" | "hasContextManagement"> {
  const management = fields.findPlace(body, "context_management");
  if (management === null) return { keepsAllThinking: false, hasContextManagement: false };
  const allowed = ["context-management-2025-06-27", "compact-2026-01-12"];
  if (!allowed.some((beta) => betas.has(beta))) throw extraInput("context_management");
  let keepsAllThinking = false;
  for (const edit of fields.findPlaces(management, "edits") ?? []) {
    const type = fields.textAt(edit, "type");
    const keep = find(edit, "keep");
    const kept = keep?.kind === "object" ? keep.fields.get("type") : keep;
    const keepsAll = kept?.kind === "string" && kept.text === "all";
    if (type !== "clear_thinking_20251015" || !keepsAll) throw notSimulated(`${edit.path}.${type}`);
    keepsAllThinking = true;
  }
  return { keepsAllThinking, hasContextManagement: true };
}

function readCompaction(body: Place, betas: ReadonlySet<string>): RequestOptions["compaction"] {
  const compaction = fields.findPlace(body, "compaction");
  if (compaction === null) return null;
  if (!betas.has(compactionBeta))
    throw invalid(`compaction: requires anthropic-beta: ${compactionBeta}`);
  refuseExtras(compaction, new Set(["type", "instructions"]));
  fields.oneOfAt(compaction, "type", ["summarize"]);
  const instructions = fields.findText(compaction, "instructions")?.trim() ?? "";
  if (instructions.length > 16_384)
    throw invalid("compaction.instructions: String should have at most 16384 characters");
  return { instructions: instructions === "" ? null : instructions };
}

export const compactionBeta = "compact-2026-09-04";

function readDiagnostics(body: Place): RequestOptions["diagnostics"] {
  const diagnostics = fields.findPlace(body, "diagnostics");
  if (diagnostics === null) return null;
  refuseExtras(diagnostics, new Set(["previous_message_id"]));
  return { previousMessageId: fields.findText(diagnostics, "previous_message_id") };
}
