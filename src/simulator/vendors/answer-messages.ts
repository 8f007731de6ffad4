// POST /v1/messages of a vendor that speaks Anthropic's API besides its own, and of the router.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { generateReply } from "../anthropic/reply/generate-reply.ts";
import { messageEvents, messageText, type Outcome } from "../anthropic/reply/write-message.ts";
import { renderPrompt, validateLength } from "../anthropic/render/render-prompt.ts";
import type { RenderedPrompt } from "../anthropic/render/render-prompt.ts";
import { Refusal, refusalResponse } from "../anthropic/refusal.ts";
import { readBetas, versions } from "../anthropic/request-headers.ts";
import { readRequest, type MessagesRequest } from "../anthropic/request/read-request.ts";
import { settingsOf } from "../anthropic/settings.ts";
import type { Bill } from "../billing/bill.ts";
import type { BillableBlock, Keeping } from "../billing/billable-request.ts";
import { toCallRecord, type BilledCall } from "../record-call.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { findVendorModel } from "./answer-chat.ts";
import { prefillMs, type LocalServer } from "./usage.ts";
import type { VendorRow } from "./vendor-row.ts";

export function answerVendorMessages(
  row: VendorRow,
  sent: SimRequest,
  context: SurfaceContext,
  local: LocalServer,
): SimResponse {
  return orRefuse(context, () => {
    const request = readVendorMessages(sent, (name) => findVendorModel(row, name));
    const { answered, response } = answerMessages(request, context, {
      keeping: row.keeping,
      splitIsLate: row.splitIsLate,
      hidesCache: row.counts === "none",
      charge: (called) => {
        const call = { ...called, surface: row.name, startMs: context.nowMs, priceShare: 1 };
        context.record(toCallRecord(call));
        return {};
      },
    });
    const waits = local.waits && row.isLocal;
    return waits
      ? { ...response, firstByteMs: prefillMs(answered.uncachedTokens, local) }
      : response;
  });
}

/** Refusals are in the form of the API that is spoken. */
export function orRefuse(
  { newId }: Pick<SurfaceContext, "newId">,
  answer: () => SimResponse,
): SimResponse {
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refusalResponse(error, newId("req_"));
  }
}

/** Servers of others need no version, and take both ways to ask for thinking. */
export function readVendorMessages(
  sent: SimRequest,
  find: (name: string) => ModelFacts | null,
  alsoTakes: readonly string[] = [],
): MessagesRequest {
  const given = sent.headers.get("anthropic-version");
  const version = versions.find((each) => each === given) ?? versions[0];
  return readRequest(sent.bodyText, {
    version,
    betas: readBetas(sent),
    purpose: "create",
    alsoTakes,
    findFacts: (name) => {
      const facts = find(name);
      if (facts === null) throw new Refusal("not_found_error", `model: ${name}`);
      const { capabilities: can } = facts;
      const thinks = can.thinking
        ? { adaptiveThinking: true, budgetedThinking: true }
        : { adaptiveThinking: false, budgetedThinking: false };
      return { ...facts, capabilities: { ...can, ...thinks } };
    },
  });
}

export interface MessagesPlace {
  readonly keeping: Keeping | null;
  readonly host?: string;
  readonly splitIsLate: boolean;
  readonly hidesCache: boolean;
  /** Records the call; gives the members that the usage has besides. */
  readonly charge: (
    called: Pick<BilledCall, "facts" | "bill" | "generated" | "stopReason">,
  ) => object;
}

export function answerMessages(
  request: MessagesRequest,
  context: SurfaceContext,
  { keeping, host, splitIsLate, hidesCache, charge }: MessagesPlace,
): { readonly response: SimResponse; readonly answered: Bill } {
  const { nowMs, workspace, newId, counter } = context;
  const { facts } = request;
  const prompt = renderPrompt(request, counter);
  validateLength(prompt, request);
  const id = newId("msg_");
  const made = generateReply(request, prompt, context);
  const open = context.billing.open({
    id,
    workspace,
    ...(host === undefined ? {} : { host }),
    model: facts,
    blocks: withBoundaries(prompt),
    // A model without markers ignores them.
    markers: facts.cache.markers === null ? [] : prompt.markers,
    mode: "explicit",
    ...(keeping === null ? {} : { keeping }),
    settings: settingsOf(request),
    startMs: nowMs,
  });
  const { bill } = open;
  const { stopReason } = made;
  const usageMembers = charge({ facts, bill, generated: made, stopReason });
  const outcome: Outcome = {
    ...made,
    id,
    request,
    bill,
    ...(splitIsLate ? { begunBill: unsplit(bill) } : {}),
    usageMembers,
    hidesCache,
    diagnostics: undefined,
    transformations: [],
  };
  const isStream = request.options.stream;
  const type = isStream ? "text/event-stream; charset=utf-8" : "application/json";
  const response: SimResponse = {
    status: 200,
    headers: { "content-type": type, "request-id": newId("req_") },
    body: isStream ? { [Symbol.iterator]: () => messageEvents(outcome) } : messageText(outcome),
    bill: open,
  };
  return { response, answered: bill };
}

/** The whole prompt, as if nothing were cached. */
function unsplit(bill: Bill): Bill {
  return { ...bill, readTokens: 0, writeTokens: {}, uncachedTokens: bill.totalTokens };
}

/** Where a provider with automatic caching can end a prefix: after the system prompt, and after what the user says. */
function withBoundaries({ blocks, units }: RenderedPrompt): readonly BillableBlock[] {
  return blocks.map((block, index) => {
    const own = units[index];
    const next = units[index + 1];
    if (own === undefined || (next !== undefined && next.role === own.role)) return block;
    if (own.origin === "system") return { ...block, boundary: "initial group" };
    return own.origin === "messages" && own.role === "user"
      ? { ...block, boundary: "eligible message" }
      : block;
  });
}
