// Which model writes the summary of a recorded session: its own, another one, or none.
import type { Environment } from "../../core/config/environment.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { StrataError } from "../../core/strata-error.ts";
import { loadO200k } from "../../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Endpoint } from "../../core/wire/access.ts";
import { createProvider, type Provider } from "../../edge/providers/provider.ts";
import type { Deps } from "../../engine.ts";
import type { Session } from "../../core/session/session.ts";
import type { Summariser } from "../../engine/compaction/summarise-transcript.ts";
import { usualProtocol } from "../../core/wire/protocols.ts";
import { findEndpoint } from "./provider-protocols.ts";

export type Writer =
  | {
      readonly kind: "model";
      readonly model: ModelFacts;
      readonly protocol: Protocol;
      readonly endpoint: Endpoint;
      /** The variables that name the endpoint. */
      readonly origin: string;
      /** The session's own model reads the conversation from its cache. */
      readonly isOwn: boolean;
    }
  /** Used for a plan only: the model cannot be called because of `missing`. */
  | { readonly kind: "planned"; readonly model: ModelFacts; readonly missing: string }
  /** `missing`: why no model can be called; null if none is wanted. */
  | { readonly kind: "nobody"; readonly missing: string | null };

export interface WriterWish {
  readonly isModelWanted: boolean;
  /** A model instead of the session's own. */
  readonly summarizer: string | undefined;
  /** No model is called, so a missing key is no error. */
  readonly isDryRun: boolean;
}

export function chooseWriter(
  { isModelWanted, summarizer, isDryRun }: WriterWish,
  session: Session,
  { env, catalogue }: { readonly env: Environment; readonly catalogue: Catalogue },
): Writer {
  if (!isModelWanted) return { kind: "nobody", missing: null };
  const model =
    summarizer === undefined ? session.model : resolveModel(summarizer, catalogue).facts;
  const isOwn = model.id === session.model.id && model.provider === session.model.provider;
  const usual = usualProtocol(model.provider);
  const found = findEndpoint(env, model.provider);
  if (found.kind === "found") {
    const protocol = isOwn ? session.protocol : usual;
    const { endpoint, origin } = found;
    return { kind: "model", model, protocol, endpoint, origin, isOwn };
  }
  if (isOwn) return { kind: "nobody", missing: found.why };
  if (isDryRun) return { kind: "planned", model, missing: found.why };
  throw new StrataError(
    "environment-unfit",
    `${model.id} cannot be asked for a summary: ${found.why}`,
    "set the key of its provider, or name another model with --summarizer",
  );
}

/** How far a summary is. */
export type WriterProgress =
  | { readonly kind: "reading"; readonly model: string }
  | { readonly kind: "writing"; readonly model: string; readonly characters: number }
  | { readonly kind: "ended" };

type OnProgress = (progress: WriterProgress) => void;

export interface OpenWriter {
  readonly deps: Pick<Deps, "provider" | "compaction">;
  close(): Promise<void>;
}

export async function openWriter(writer: Writer, onProgress: OnProgress): Promise<OpenWriter> {
  if (writer.kind === "nobody") {
    return { deps: { provider: { send: refuseToSend } }, close: () => Promise.resolve() };
  }
  const { model } = writer;
  if (writer.kind === "planned") {
    const provider = { send: refuseToSend };
    const summariser = await toSummariser(model, usualProtocol(model.provider), provider);
    return { deps: { provider, compaction: { summariser } }, close: () => Promise.resolve() };
  }
  const opened = openProvider(writer);
  const provider = reporting(opened, model.id, onProgress);
  const close = (): Promise<void> => opened.close();
  if (writer.isOwn) return { deps: { provider }, close };
  const summariser = await toSummariser(model, writer.protocol, provider);
  return { deps: { provider, compaction: { summariser } }, close };
}

async function toSummariser(
  model: ModelFacts,
  protocol: Protocol,
  provider: Pick<Provider, "send">,
): Promise<Summariser> {
  const counter = createTokenCounter(await loadO200k(), model.tokenizer);
  const outputTokensMax = model.outputTokensMax ?? outputTokensUsual;
  const options = { outputTokensMax: Math.min(outputTokensUsual, outputTokensMax), stream: true };
  return { model, protocol, provider, counter, options };
}

const outputTokensUsual = 16_000;

function openProvider({
  protocol,
  endpoint,
  origin,
}: Extract<Writer, { readonly kind: "model" }>): Provider {
  try {
    return createProvider({ protocol, ...endpoint });
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    const hint = `${error.hint} (it is from ${origin})`;
    throw new StrataError("environment-unfit", error.message, hint, { cause: error });
  }
}

function refuseToSend(): Promise<never> {
  return Promise.reject(new Error("a compaction without a model called one"));
}

/** Reports progress while the summary streams in. */
function reporting(
  provider: Provider,
  model: string,
  onProgress: OnProgress,
): Pick<Provider, "send"> {
  return {
    send: async (call) => {
      let characters = 0;
      onProgress({ kind: "reading", model });
      try {
        return await provider.send({
          ...call,
          onPart: (part) => {
            call.onPart?.(part);
            if (part.type !== "text-delta") return;
            characters += part.text.length;
            onProgress({ kind: "writing", model, characters });
          },
        });
      } finally {
        onProgress({ kind: "ended" });
      }
    },
  };
}
