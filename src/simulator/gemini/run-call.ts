// Runs one call from the parsed request to bill and reply.
import type { OpenBill } from "../billing/bill.ts";
import type { Prompt, PromptTurn } from "../prompt.ts";
import { toCallRecord } from "../record-call.ts";
import type { SurfaceContext } from "../surface.ts";
import { promptTooLong } from "./api-error.ts";
import { toProduced } from "./reply/produce.ts";
import type { GeneratedReply } from "./reply/response-text.ts";
import { toWireParts } from "./reply/wire-parts.ts";
import { renderPrompt, type Rendering } from "./render/render.ts";
import { partsOf, textOf, toTurns, type Part } from "./request/contents.ts";
import type { PromptPart, ReadRequest } from "./request/read-request.ts";
import { checkOrder, checkSignatures } from "./request/validate-contents.ts";

/** A prompt that begins with a stored prefix, or stands alone. */
export interface WholePrompt extends PromptPart {
  /** The name of the stored prefix that it begins with; null without one. */
  readonly stored: string | null;
}

export interface Call {
  readonly reply: GeneratedReply;
  readonly open: OpenBill;
}

/** Refuses what the provider refuses, and renders the rest. */
function renderChecked(
  request: ReadRequest,
  prompt: WholePrompt,
  responseId: string,
  context: SurfaceContext,
): Rendering {
  const { facts } = request;
  checkOrder(prompt.contents);
  if (facts.capabilities.signedToolCalls) {
    checkSignatures(prompt.contents, { model: facts.id, workspace: context.workspace });
  }
  const rendering = renderPrompt(prompt, responseId, facts, context.counter);
  if (rendering.totalTokens > facts.inputTokensMax) {
    throw promptTooLong(rendering.totalTokens, facts.inputTokensMax);
  }
  return rendering;
}

export function runCall(request: ReadRequest, prompt: WholePrompt, context: SurfaceContext): Call {
  const { facts, settings } = request;
  const responseId = context.newId("");
  const rendering = renderChecked(request, prompt, responseId, context);
  // The model answers before the bill is opened: if it fails, nothing is billed.
  const asked = toPrompt(request, prompt);
  const answer = context.answer(asked);
  const produced = toProduced(answer, asked.outputTokensMax, context.counter, facts);
  const open = context.billing.open({
    id: responseId,
    workspace: context.workspace,
    model: facts,
    blocks: rendering.blocks,
    markers: [],
    mode: "implicit",
    ...(prompt.stored === null ? {} : { stored: prompt.stored }),
    settings: settings.billable,
    startMs: context.nowMs,
  });
  const parts = toWireParts(produced, {
    owner: { model: facts.id, workspace: context.workspace },
    facts,
    responseId,
    showsThoughts: settings.showsThoughts,
    newId: context.newId,
  });
  context.record(
    toCallRecord({
      surface: "gemini",
      facts,
      bill: open.bill,
      generated: produced,
      stopReason: produced.finishReason,
      startMs: context.nowMs,
      priceShare: settings.isStandardTier ? 1 : null,
    }),
  );
  const { bill } = open;
  const modelVersion = request.model;
  return { open, reply: { responseId, modelVersion, bill, rendering, produced, parts } };
}

function toPrompt({ model, facts, settings }: ReadRequest, prompt: WholePrompt): Prompt {
  const { allowed, mode } = prompt.toolChoice;
  const functions = prompt.tools.flatMap(({ definition }) => definition ?? []);
  const tools = functions.filter(({ name }) => allowed === null || allowed.includes(name));
  const only = mode === "ANY" && allowed?.length === 1 ? allowed[0] : undefined;
  return {
    model,
    wants: "reply",
    instructions: null,
    system: textOf(prompt.system),
    tools,
    turns: toPromptTurns(prompt),
    outputTokensMax: settings.outputTokensMax ?? facts.outputTokensMax ?? facts.windowTokens,
    thinks: settings.thinks,
    toolChoice: only === undefined ? choices[mode] : { name: only },
  };
}

const choices = {
  AUTO: "auto",
  VALIDATED: "auto",
  MODE_UNSPECIFIED: "auto",
  ANY: "any",
  NONE: "none",
} as const;

/** Calls without an id get one by their place, and so do the responses, which follow in the same order. */
function toPromptTurns({ contents }: WholePrompt): readonly PromptTurn[] {
  let open: readonly string[] = [];
  return toTurns(contents).map((turn, index) => {
    const parts = partsOf(turn);
    const toolUses = parts.filter(isCall).map(({ id, name, argsJson }, place) => ({
      id: id ?? `call ${index}.${place}`,
      name,
      inputJson: argsJson,
    }));
    const toolResults = parts.filter(isResponse).map(({ id, text, isError }, place) => ({
      id: id ?? open[place] ?? `call ${index}.${place}`,
      text,
      isError,
    }));
    open = toolUses.map(({ id }) => id);
    const role = turn.role === "model" ? "assistant" : "user";
    return { role, text: textOf(parts), toolUses, toolResults };
  });
}

function isCall(part: Part): part is Extract<Part, { readonly kind: "call" }> {
  return part.kind === "call";
}

function isResponse(part: Part): part is Extract<Part, { readonly kind: "response" }> {
  return part.kind === "response";
}
