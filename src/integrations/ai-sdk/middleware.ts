// Middleware for the Vercel AI SDK: plans where the provider should cache, and books each call's cost.
import type { LanguageModelMiddleware } from "ai";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Policy, PolicyName } from "../../core/cache/policy.ts";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import type { Miss, SentBesides } from "../../core/turn/diagnose-call.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { readError } from "../../engine/own-loop/read-reply.ts";
import type { Emitter } from "../../engine/events/turn-emitter.ts";
import { bookCall, endTurn, type BookDeps } from "./book-call.ts";
import type { Conversation } from "./conversation.ts";
import { createConversations, type Conversations } from "./conversations.ts";
import { placeMarkers } from "./place-markers.ts";
import { reachModel, type NamedSdkModel } from "./reach-model.ts";
import { readPrompt } from "./read-prompt.ts";
import { createStreamReading, toReply } from "./read-result.ts";
import type { SdkModel, SdkParams, SdkStreamPart } from "./sdk-call.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";

export interface StrataMiddlewareOptions {
  /** Where calls are recorded. Without it, calls are planned but not recorded. */
  readonly session?: RecordedSession;
  /** `adaptive` by default. */
  readonly policy?: PolicyName | Policy;
  /** The model's name in our catalogue, if the SDK uses another. */
  readonly model?: string;
  readonly catalogue?: Catalogue;
  readonly counter?: TextCounter;
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number;
  /** Called with each call after it is recorded. */
  readonly onCall?: (call: ReportedCall) => void;
  /** Called with our own problems; the call goes on without us. By default a process warning. */
  readonly onProblem?: (problem: unknown) => void;
}

export interface RecordedSession {
  readonly ledger: Ledger;
  /** Id of the first conversation; later ones derive theirs from it. Random by default. */
  readonly id?: string;
  readonly agent?: string;
  readonly events?: Emitter;
}

export interface ReportedCall {
  readonly sessionId: string;
  readonly plan: CachePlan;
  readonly entry: CallEntry;
  /** What the call lost of the cache: cause, place, tokens and dollars. Null for nothing. */
  readonly miss: Miss | null;
  /** Planned markers that have no place in the prompt. */
  readonly lostMarkers: number;
}

export interface StrataMiddleware extends LanguageModelMiddleware {
  readonly specificationVersion: "v4";
  /** Abandons turns that wait for tools. Their costs stay recorded. */
  close(): Promise<void>;
}

export function strataMiddleware(options: StrataMiddlewareOptions = {}): StrataMiddleware {
  const { now = Date.now, onProblem = warn, session } = options;
  const setup: Setup = {
    ...options,
    now,
    onProblem,
    conversations: createConversations({
      end: (each) =>
        endTurn(each, "cancelled", bookOf({ now, ...(session && { session }) })).catch(onProblem),
      policy: toPolicy(options.policy),
      counter: options.counter ?? cheapCounter,
      ...(session && { ledger: session.ledger }),
      ...(session?.id !== undefined && { sessionId: session.id }),
      ...(session?.agent !== undefined && { agent: session.agent }),
      ...(session?.events && { events: session.events }),
    }),
  };
  return {
    specificationVersion: "v4",
    wrapGenerate: async ({ model, params }) => {
      const call = await begin(params, model, setup);
      try {
        const result = await model.doGenerate(call?.params ?? params);
        await call?.end(toReply(result, call.reached), result.request?.body);
        return result;
      } catch (error) {
        await call?.end(readError(error, { ...call.reached, nowMs: now }));
        throw error;
      }
    },
    wrapStream: async ({ model, params }) => {
      const call = await begin(params, model, setup);
      try {
        const result = await model.doStream(call?.params ?? params);
        if (call === null) return result;
        const { request, stream } = result;
        return { ...result, stream: stream.pipeThrough(follow(call, request?.body, now)) };
      } catch (error) {
        await call?.end(readError(error, { ...call.reached, nowMs: now }));
        throw error;
      }
    },
    close: async () => {
      for (const each of setup.conversations.all()) await endTurn(each, "cancelled", bookOf(setup));
    },
  };
}

interface Setup extends StrataMiddlewareOptions {
  readonly now: () => number;
  readonly onProblem: (problem: unknown) => void;
  readonly conversations: Conversations;
}

interface BegunCall {
  readonly reached: NamedSdkModel;
  readonly params: SdkParams;
  /** `body`: the request as the SDK sent it. Only the first call counts. Never rejects. */
  end(outcome: Reply | ProviderFailure, body?: unknown): Promise<void>;
}

function bookOf({ now, session }: Pick<Setup, "now" | "session">): BookDeps {
  const { ledger, events } = session ?? {};
  return { now, ...(ledger && { ledger }), ...(events && { events }) };
}

/** Null if we cannot help: the call is then sent unchanged. */
async function begin(params: SdkParams, model: SdkModel, setup: Setup): Promise<BegunCall | null> {
  let conversation: Conversation | null = null;
  try {
    const reached = reachModel(model, setup);
    const prompt = readPrompt(params);
    const options = {
      outputTokensMax: params.maxOutputTokens ?? reached.facts.outputTokensMax ?? 16_000,
      stream: false,
    };
    const found = await setup.conversations.find(prompt, reached, options);
    ({ conversation } = found);
    const booked = await bookCall(found, bookOf(setup));
    const placed = placeMarkers(params, prompt, booked, reached);
    const { id: sessionId } = found.conversation.session;
    const settle = async (outcome: Reply | ProviderFailure, body: unknown): Promise<void> => {
      const besides = readBesides(body, placed.params, reached);
      const settled = await booked.settle(outcome, besides);
      found.conversation.isBusy = false;
      const { plan } = booked;
      setup.onCall?.({ sessionId, plan, ...settled, lostMarkers: placed.lostCount });
    };
    let ended: Promise<void> | null = null;
    return {
      reached,
      params: placed.params,
      end: (outcome, body) => {
        ended ??= settle(outcome, body).catch((error: unknown) =>
          giveUp(found.conversation, error, setup),
        );
        return ended;
      },
    };
  } catch (error) {
    await giveUp(conversation, error, setup);
    return null;
  }
}

/** The application gets its reply even if our booking fails. */
async function giveUp(
  conversation: Conversation | null,
  error: unknown,
  { conversations, onProblem }: Setup,
): Promise<void> {
  onProblem(error);
  if (conversation === null) return;
  conversations.drop(conversation);
  await conversation.turn?.lease?.release().catch(onProblem);
}

/** Passes a stream through, and books it before it ends. */
function follow(
  call: BegunCall,
  body: unknown,
  nowMs: () => number,
): TransformStream<SdkStreamPart, SdkStreamPart> {
  const { reached } = call;
  const reading = createStreamReading();
  const finish = async (ending: ProviderFailure | null): Promise<void> => {
    const { protocol } = reached;
    const reply = reading.soFar();
    const failure =
      reading.error === undefined ? ending : readError(reading.error, { protocol, nowMs });
    const isNothing = reply.content.length === 0 && reply.usage === undefined;
    const outcome = failure !== null && isNothing ? failure : toReply(reply, reached, failure);
    await call.end(outcome, body);
  };
  return new TransformStream<SdkStreamPart, SdkStreamPart>({
    transform: (part, controller) => {
      reading.take(part);
      controller.enqueue(part);
    },
    flush: () => finish(reading.soFar().finishReason === undefined ? endedEarly : null),
    cancel: (reason: unknown) =>
      finish(
        reason instanceof Error
          ? readError(reason, { protocol: reached.protocol, nowMs })
          : { kind: "cancelled", detail: "the stream was cancelled" },
      ),
  });
}

const endedEarly: ProviderFailure = {
  kind: "unreachable",
  detail: "it ended before the reply did",
};

function toPolicy(policy: PolicyName | Policy = "adaptive"): Policy {
  return typeof policy === "string" ? findPolicy(policy) : policy;
}

function warn(problem: unknown): void {
  process.emitWarning(problem instanceof Error ? problem : String(problem));
}

/** Reads the body that the SDK sent, as the body of any client is read, without its prompt. */
function readBesides(
  body: unknown,
  params: SdkParams,
  { protocol, words, facts }: NamedSdkModel,
): SentBesides {
  const betas = betasOf(params, words);
  const sent: unknown = typeof body === "string" ? JSON.parse(body) : body;
  // Not every provider of the SDK gives it.
  if (typeof sent !== "object" || sent === null) return { betas };
  const bare = JSON.stringify({ ...sent, ...words.bare });
  const { settings, keepsThinking } = readRequest(bare, { protocol, facts });
  return { betas, settings, keepsThinking };
}

function betasOf(
  { headers = {}, providerOptions }: SdkParams,
  { name, betas }: NamedSdkModel["words"],
): readonly string[] {
  if (betas === null) return [];
  const inHeader = Object.entries(headers).flatMap(([header, value]) =>
    header.toLowerCase() === betas.header ? (value ?? "").split(",") : [],
  );
  const asked: unknown = providerOptions?.[name]?.[betas.option];
  const inOptions = Array.isArray(asked) ? asked.map(String) : [];
  const all = [...inHeader, ...inOptions].map((beta) => beta.trim());
  return [...new Set(all.filter((beta) => beta !== ""))];
}
