// Runs one call from the parsed request to bill and reply, for every endpoint that generates.
import type { OpenBill } from "../billing/bill.ts";
import type { SimResponse, SurfaceContext } from "../surface.ts";
import { jsonHeaders, limitHeaders, streamHeaders } from "./headers.ts";
import type { Prompt, PromptTool, PromptTurn } from "../prompt.ts";
import { toCallRecord } from "../record-call.ts";
import { contextOverflow } from "./api-error.ts";
import { nothingProduced, toProduced, type Produced } from "./reply/produce.ts";
import { callableTools, type ReadRequest, effortOf } from "./request/read-request.ts";
import { render, type Rendering } from "./render/render.ts";
import { isInitial, textOf, type Item, type ToolDefinition } from "./request/items.ts";
import { unseal } from "./render/sealed.ts";

export interface Call {
  readonly id: string;
  readonly request: ReadRequest;
  readonly rendering: Rendering;
  readonly open: OpenBill;
  readonly produced: Produced;
}

export function runCall(
  id: string,
  request: ReadRequest,
  context: SurfaceContext,
  wants: Prompt["wants"] | "nothing",
  host?: string,
): Call {
  const { facts, cache, settings } = request;
  const rendering = render(request, context.counter);
  if (rendering.totalTokens > facts.inputTokensMax) {
    throw contextOverflow(request.api, rendering.totalTokens, facts.inputTokensMax);
  }
  // The model answers before the bill is opened: if it fails, nothing is billed.
  const produced = wants === "nothing" ? nothingProduced : answer(request, wants, context);
  const lifetime = facts.cache.markers === null ? settings.retention : cache.lifetime;
  const open = context.billing.open({
    id,
    workspace: context.workspace,
    ...(host === undefined ? {} : { host }),
    model: facts,
    blocks: rendering.blocks,
    markers: rendering.markers,
    mode: cache.mode,
    ...(lifetime === null ? {} : { implicitLifetime: lifetime }),
    ...(request.keeping === undefined ? {} : { keeping: request.keeping }),
    settings: settings.billable,
    startMs: context.nowMs,
  });
  return { id, request, rendering, open, produced };
}

function answer(request: ReadRequest, wants: Prompt["wants"], context: SurfaceContext): Produced {
  const prompt = toPrompt(request, wants);
  const tools = callableTools(request);
  const { tokenizer } = request.facts;
  const reply = context.answer(prompt);
  return toProduced(reply, tools, prompt.outputTokensMax, context.counter, tokenizer);
}

export function answerOf(
  { rendering, open }: Call,
  body: SimResponse["body"],
  context: SurfaceContext,
): SimResponse {
  const headers = typeof body === "string" ? jsonHeaders(context) : streamHeaders(context);
  const limits = limitHeaders(rendering.totalTokens);
  return { status: 200, headers: { ...headers, ...limits }, body, bill: open };
}

export function recordCall(call: Call, stopReason: string, context: SurfaceContext): void {
  const { request, produced, open } = call;
  const { facts, settings } = request;
  const tier = settings.serviceTier;
  context.record(
    toCallRecord({
      surface: "openai",
      facts,
      bill: open.bill,
      generated: produced,
      stopReason,
      startMs: context.nowMs,
      priceShare: tier === "default" ? 1 : (facts.serviceTiers[tier] ?? null),
    }),
  );
}

function toPrompt(request: ReadRequest, wants: Prompt["wants"]): Prompt {
  const { facts, items, instructions, toolChoice } = request;
  const end = items.findIndex((item) => !isInitial(item));
  const leading = end === -1 ? items : items.slice(0, end);
  const system = [instructions ?? "", ...leading.map(systemText)].filter((text) => text !== "");
  const { allowed } = toolChoice;
  const tools = callableTools(request)
    .filter((tool) => allowed === null || allowed.includes(tool.name))
    .map(toPromptTool);
  return {
    model: request.model,
    wants,
    instructions: wants === "summary" ? instructions : null,
    system: system.join("\n\n"),
    tools,
    turns: toTurns(items.slice(leading.length)),
    outputTokensMax: request.outputTokensMax ?? facts.outputTokensMax ?? facts.windowTokens,
    thinks: facts.capabilities.thinking && effortOf(request) !== "none",
    toolChoice: toolChoice.choice,
  };
}

function systemText(item: Item): string {
  return item.kind === "message" ? textOf(item.parts) : "";
}

function toPromptTool({ name, description, kind, inputSchema }: ToolDefinition): PromptTool {
  return { name, description, inputSchema: kind === "custom" ? null : inputSchema };
}

/** Consecutive items of the model form one turn, and so do consecutive outputs. */
function toTurns(items: readonly Item[]): readonly PromptTurn[] {
  const turns: PromptTurn[] = [];
  const join = (turn: PromptTurn, isContinued: (before: PromptTurn) => boolean): void => {
    const before = turns.at(-1);
    if (before === undefined || before.role !== turn.role || !isContinued(before)) {
      turns.push(turn);
      return;
    }
    turns[turns.length - 1] = {
      role: turn.role,
      text: [before.text, turn.text].filter((text) => text !== "").join("\n"),
      toolUses: [...before.toolUses, ...turn.toolUses],
      toolResults: [...before.toolResults, ...turn.toolResults],
    };
  };
  for (const item of items) {
    const turn = toTurn(item);
    if (turn === null) continue;
    const isOutput = turn.toolResults.length > 0;
    join(
      turn,
      (before) => turn.role === "assistant" || (isOutput && before.toolResults.length > 0),
    );
  }
  return turns;
}

function toTurn(item: Item): PromptTurn | null {
  const silent = { text: "", toolUses: [], toolResults: [] };
  switch (item.kind) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      return { ...silent, role, text: textOf(item.parts) };
    }
    case "tool use": {
      // Free text becomes a JSON string, so that an input is always JSON.
      const inputJson = item.isCustom ? JSON.stringify(item.input) : item.input;
      const name = item.name.slice(item.name.lastIndexOf(".") + 1);
      return { ...silent, role: "assistant", toolUses: [{ id: item.callId, name, inputJson }] };
    }
    case "tool output": {
      const result = { id: item.callId, text: textOf(item.parts), isError: false };
      return { ...silent, role: "user", toolResults: [result] };
    }
    case "compaction":
      return { ...silent, role: "system", text: unseal(item.sealed) ?? "" };
    case "tools":
    case "reasoning":
    case "configuration":
    case "other":
      return null;
  }
}
