// A call that the application sends itself: the request as bytes and as an object, and its parts.
import { assert } from "../../core/assert.ts";
import { toAssembledContext } from "../../core/assembly/assembled-context.ts";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import { itemsOf } from "../../core/growing/growing-list.ts";
import type { AssembledContext } from "../../core/message/assembled-context.ts";
import { createRequest, type CanonicalRequest } from "../../core/message/canonical-request.ts";
import { toRequestId } from "../../core/turn/turn-events.ts";
import type { TokenBudget } from "../../core/tokens/budget.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { usualTimeouts } from "../../edge/providers/timeouts.ts";
import type { StepOf } from "../../core/turn/step.ts";
import type { Deps } from "../turn/deps.ts";
import type { RunningTurn } from "../turn/running-turn.ts";
import { reservesOf } from "../../core/session/compaction-rules.ts";
import { contextPieces, volatilePieces } from "../../core/session/context-pieces.ts";

export interface OwnCall {
  readonly turnId: string;
  /** Counts from 1 within the turn. */
  readonly number: number;
  readonly protocol: string;
  /** The path after the provider's base URL. */
  readonly path: string;
  /** Headers besides credentials and content type. Pass them to the SDK with the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its pieces are the exact bytes of the body. */
  readonly request: EncodedRequest;
  readonly plan: CachePlan;
  /** The body for an SDK, of the type of its protocol. Builds the whole request again on each call. */
  toObject<Body>(protocol: Protocol<string, Body>): Body;
  toObject(): unknown;
  /** The body as one text, for `fetch`. */
  toBytes(): Uint8Array<ArrayBuffer>;
  /** The call without any provider's spelling, its volatile text apart. `encodeCanonicalRequest` takes it. */
  toCanonicalRequest(): CanonicalRequest;
  /** The full context of the turn. Builds the whole request. */
  toContext(): AssembledContext<TokenBudget>;
}

type ContextDeps = Pick<Deps, "provider" | "compaction">;

export function toOwnCall(
  running: RunningTurn,
  step: StepOf<"send">,
  request: EncodedRequest,
  deps: ContextDeps,
): OwnCall {
  const { turn } = running;
  return {
    turnId: turn.id,
    number: step.number,
    protocol: turn.session.protocol.name,
    path: request.path,
    headers: request.headers,
    request,
    plan: step.prepared.plan,
    toObject: (asked?: Protocol) => toObject(request, turn.session.protocol, asked),
    toBytes: () => joined(request),
    toCanonicalRequest: () => toCanonical(running, step),
    toContext: () => toContext(running, step, deps),
  };
}

function toCanonical({ turn }: RunningTurn, step: StepOf<"send">): CanonicalRequest {
  const { session, id } = turn;
  const { model, options, workspacePath } = session;
  const { assembly, volatile } = step.prepared;
  const { foundation, messages } = assembly.plainThread;
  const { temperature = null, stopSequences = [], outputSchemaJson = null } = options;
  return createRequest({
    requestId: toRequestId(id, step.number),
    model: `${model.provider}:${model.id}`,
    messages: [...itemsOf(messages)],
    tools: foundation.tools,
    systemPrompt: foundation.system.map(({ text }) => text).join("\n\n") || null,
    // At the head of a message it is part of the message.
    systemPromptVolatile: assembly.volatilePlace === "message-head" ? null : volatile,
    maxOutputTokens: options.outputTokensMax,
    stream: options.stream,
    temperature,
    stopSequences,
    outputSchemaJson,
    workspacePath,
  });
}

/** Checked, because only the caller knows which SDK gets it. */
function toObject<Body>(
  request: EncodedRequest<Body>,
  { name }: Protocol,
  asked: Protocol | undefined,
): Body {
  if (asked === undefined || asked.name === name) return request.toObject();
  throw new StrataError(
    "input-invalid",
    `this call is of the protocol ${name}, not of ${asked.name}`,
    "give toObject the protocol that the session was opened with",
  );
}

function joined({ pieces, byteLength }: EncodedRequest): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLength);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function toContext(
  { turn, lease, tools }: RunningTurn,
  step: StepOf<"send">,
  { provider, compaction }: ContextDeps,
): AssembledContext<TokenBudget> {
  const { session, before, id, event } = turn;
  assert(event.message !== null, "an own loop begins with an event");
  const { model, role, options, permissions, workspacePath } = session;
  const { temperature, thinkingJson, extraJson, outputTokensMax } = options;
  const { prepared } = step;
  const { counter } = session.thread.foundation;
  const sections = "call" in turn.at ? (turn.at.call?.moment.volatile ?? []) : [];
  // Memory may have left the prompt.
  const sent = sections.filter(({ text }) => prepared.volatile?.includes(text.trim()));
  return toAssembledContext(prepared.assembly, model, {
    pieces: [...contextPieces(session), ...volatilePieces(sent, (text) => counter.text(text))],
    runId: id,
    role,
    toolsetName: session.toolset ?? role,
    permissionsGranted: permissions,
    responseTokensMax: outputTokensMax,
    historyCount: before.thread.messages.length,
    currentMessage: event.message,
    sendsEvent: !turn.compactions.some(
      (made) => made.firstKeptTurnId === id && made.firstKeptIndex > 0,
    ),
    volatileText: prepared.volatile,
    sessionLabel: session.id,
    parentTurnId: lease === null ? before.headTurnId : lease.parentTurnId,
    ...(event.sourceId !== null && { sourceEventId: event.sourceId }),
    attachments: event.attachments,
    workspacePath: workspacePath ?? "",
    timeoutMs: limitOf(provider),
    ...(tools.signal && { abortSignal: tools.signal }),
    reserves: reservesOf(compaction),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingJson !== undefined && { thinkingConfigJson: thinkingJson }),
    ...(extraJson && { modelConfigJson: toObjectText(extraJson) }),
  });
}

/** The time limit of the configured provider, even if the application sends the call. Not every provider has one. */
function limitOf({ timeoutMs }: Deps["provider"] & Partial<Provider>): number {
  return timeoutMs ?? usualTimeouts.totalMs;
}

function toObjectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return `{${texts.join(",")}}`;
}
