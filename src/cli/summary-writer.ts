// Who writes the summary of a fold: the session's own model, another one, or nobody.
import type { ModelFacts } from "../core/models/model-facts.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import type { Catalogue } from "../core/models/catalogue.ts";
import { StrataError } from "../core/strata-error.ts";
import { loadO200k } from "../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../core/tokens/token-counter.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import type { Endpoint } from "../core/wire/access.ts";
import { createProvider, type Provider } from "../edge/providers/provider.ts";
import type { Edges } from "../engine.ts";
import type { Session } from "../engine/session.ts";
import type { Summariser } from "../engine/summarise-transcript.ts";
import { formatCount } from "../replay/page/format-figures.ts";
import type { Progress } from "./progress.ts";
import { findEndpoint, usualProtocol } from "./provider-protocols.ts";
import type { Environment } from "./read-config.ts";

export type Writer =
  | {
      readonly kind: "model";
      readonly model: ModelFacts;
      readonly protocol: Protocol;
      readonly endpoint: Endpoint;
      /** The variables the endpoint is from. */
      readonly origin: string;
      /** Whether it is the session's own, which reads the conversation from its cache. */
      readonly isOwn: boolean;
    }
  /** A model that is only planned with: it cannot be asked for want of `missing`. */
  | { readonly kind: "planned"; readonly model: ModelFacts; readonly missing: string }
  /** `missing`: what it takes to ask a model; null where none is wanted. */
  | { readonly kind: "nobody"; readonly missing: string | null };

export interface WriterWish {
  readonly isModelWanted: boolean;
  /** Another one than the session's. */
  readonly summarizer: string | undefined;
  /** Whether nobody will be asked in any case. */
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

export interface OpenWriter {
  readonly edges: Pick<Edges, "provider" | "compaction">;
  close(): Promise<void>;
}

export async function openWriter(writer: Writer, progress: Progress): Promise<OpenWriter> {
  if (writer.kind === "nobody") {
    return { edges: { provider: { send: refuseToSend } }, close: () => Promise.resolve() };
  }
  const { model } = writer;
  if (writer.kind === "planned") {
    const provider = { send: refuseToSend };
    const summariser = await toSummariser(model, usualProtocol(model.provider), provider);
    return { edges: { provider, compaction: { summariser } }, close: () => Promise.resolve() };
  }
  const opened = openProvider(writer);
  const provider = telling(opened, model.id, progress);
  const close = (): Promise<void> => opened.close();
  if (writer.isOwn) return { edges: { provider }, close };
  const summariser = await toSummariser(model, writer.protocol, provider);
  return { edges: { provider, compaction: { summariser } }, close };
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
  return Promise.reject(new Error("a fold without a model asks one"));
}

/** Says how far the summary is while it streams in. */
function telling(provider: Provider, name: string, progress: Progress): Pick<Provider, "send"> {
  return {
    send: async (call) => {
      let characters = 0;
      progress.tell(`${name} reads the conversation`);
      try {
        return await provider.send({
          ...call,
          onPart: (part) => {
            call.onPart?.(part);
            if (part.type !== "text-delta") return;
            characters += part.text.length;
            progress.tell(`${name} writes the summary: ${formatCount(characters, "character")}`);
          },
        });
      } finally {
        progress.end();
      }
    },
  };
}
