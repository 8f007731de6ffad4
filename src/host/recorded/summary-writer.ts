// Which model writes the summary of a recorded session: its own, another one, or none. Providers are as configured.
import { modelOf } from "../../core/config/resolve-agent.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import type { Session } from "../../core/session/session.ts";
import { StrataError } from "../../core/strata-error.ts";
import { loadO200k } from "../../core/tokens/o200k/counter.ts";
import { findVendor, usualProtocol } from "../../core/wire/protocols.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import { noKey } from "../../edge/providers/reach-choice.ts";
import { reachProviders, type Providers } from "../../edge/providers/reach-providers.ts";
import type { Deps } from "../../engine.ts";
import type { CompactionRules } from "../../core/session/compaction-rules.ts";
import { toAgentCalls } from "../config/agent-calls.ts";
import { toCompactionSettings, toSummariserName } from "../config/from-config.ts";
import { simulationOf } from "../ledger/simulated-session.ts";
import { toSummariser } from "../parts/find-summariser.ts";
import { toBetas } from "../parts/open-providers.ts";

export type Writer =
  | {
      readonly kind: "model";
      readonly model: ModelFacts;
      /** The session's own model reads the conversation from its cache. */
      readonly isOwn: boolean;
    }
  /** Used for a plan only: the model cannot be called because of `missing`. */
  | { readonly kind: "planned"; readonly model: ModelFacts; readonly missing: string }
  /** `missing`: why no model can be called; null if none is wanted. */
  | { readonly kind: "nobody"; readonly missing: string | null };

export interface WriterWish {
  readonly isModelWanted: boolean;
  /** Instead of the configured model, or of the session's own. */
  readonly summarizer: string | undefined;
  /** No model is called, so a missing key is no error. */
  readonly isDryRun: boolean;
}

/** How far a summary is. */
export type WriterProgress =
  | { readonly kind: "reading"; readonly model: string }
  | { readonly kind: "writing"; readonly model: string; readonly characters: number }
  | { readonly kind: "ended" };

export interface WriterDeps {
  readonly config: StrataConfig;
  readonly catalogue: Catalogue;
  readonly record: Pick<SessionRecord, "contextJson">;
  readonly onNotice: (notice: string) => void;
  readonly onProgress: (progress: WriterProgress) => void;
}

export interface OpenWriter {
  readonly writer: Writer;
  /** The same session, which now speaks to its provider as configured. */
  readonly session: Session;
  readonly deps: Pick<Deps, "provider" | "compaction">;
  close(): Promise<void>;
}

export async function openWriter(
  wish: WriterWish,
  recorded: Session,
  deps: WriterDeps,
): Promise<OpenWriter> {
  const { config, catalogue, onNotice, onProgress } = deps;
  const providers = reachProviders({
    providers: () => config.providers,
    catalogue,
    betas: () => toBetas(config),
    onNotice,
  });
  const close = (): Promise<void> => providers.close();
  const { session, rules } = asConfigured(recorded, config);
  const writer = chooseWriter(wish, session, providers, deps);
  if (writer.kind === "nobody") {
    return { writer, session, deps: { provider: silent, compaction: rules }, close };
  }
  const { model } = writer;
  const counter = await loadO200k();
  if (writer.kind === "planned") {
    const reached = { protocol: usualProtocol(model.provider), provider: silent };
    const compaction = { ...rules, summariser: toSummariser(model, reached, counter) };
    return { writer, session, deps: { provider: silent, compaction }, close };
  }
  const reached = await providers.reach(model, writer.isOwn ? session.protocol : undefined);
  const { protocol } = reached;
  const provider = reporting(reached.provider, model.id, onProgress);
  if (writer.isOwn) {
    const own = { ...session, protocol };
    return { writer, session: own, deps: { provider, compaction: rules }, close };
  }
  const summariser = toSummariser(model, { protocol, provider }, counter);
  return { writer, session, deps: { provider, compaction: { ...rules, summariser } }, close };
}

/** The agent's limits as configured: what one of its calls would have now. */
function asConfigured(
  recorded: Session,
  config: StrataConfig,
): { readonly session: Session; readonly rules: Omit<CompactionRules, "summariser"> } {
  const { reserves, options } = toAgentCalls(config.agents.get(recorded.agent), undefined);
  const settings = toCompactionSettings(config.compaction, true);
  const outputTokensMax = options?.outputTokensMax ?? recorded.options.outputTokensMax;
  return {
    session: { ...recorded, options: { ...recorded.options, outputTokensMax } },
    rules: { settings, ...(reserves === undefined ? {} : { reserves }) },
  };
}

function chooseWriter(
  { isModelWanted, summarizer, isDryRun }: WriterWish,
  session: Session,
  providers: Providers,
  { config, catalogue, record }: WriterDeps,
): Writer {
  if (!isModelWanted) return { kind: "nobody", missing: null };
  const named = summarizer === undefined ? toSummariserName(config) : modelOf(config, summarizer);
  const model = named === null ? session.model : resolveModel(named, catalogue).facts;
  const isOwn = model.id === session.model.id && model.provider === session.model.provider;
  const missing = findMissing(model, providers, simulationOf(record) !== null);
  if (missing === null) return { kind: "model", model, isOwn };
  if (isOwn) return { kind: "nobody", missing };
  if (isDryRun) return { kind: "planned", model, missing };
  throw new StrataError(
    "environment-unfit",
    `${model.id} cannot be asked for a summary: ${missing}`,
    "configure its provider or set its key, or name another model with --summarizer",
  );
}

/** Why a model cannot be called, in words; null if it can. A simulated session is never sent to a real model, nor the reverse. */
function findMissing(
  model: ModelFacts,
  providers: Providers,
  wasSimulated: boolean,
): string | null {
  try {
    const choice = providers.choose(model);
    if ((choice.kind === "simulated") === wasSimulated) return null;
    if (choice.kind !== "simulated") return "the session was simulated, and this model is real";
    const variable = choice.why === noKey ? findVendor(model.provider)?.keyVariable : undefined;
    return variable === undefined ? choice.why : `${variable} is not set`;
  } catch (error) {
    if (error instanceof StrataError) return error.message;
    throw error;
  }
}

const silent: Pick<Provider, "send"> = {
  send: () => Promise.reject(new Error("a compaction without a model called one")),
};

/** Reports progress while the summary streams in. */
function reporting(
  provider: Pick<Provider, "send">,
  model: string,
  onProgress: WriterDeps["onProgress"],
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
            if (part.type !== "text") return;
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
