// Finds the configured model for summaries.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { TextCounter } from "../../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import type { Providers } from "../../edge/providers/reach-providers.ts";
import { optionsOf } from "../../engine/session/engine-config.ts";
import type { Summariser } from "../../engine/compaction/summarise-transcript.ts";

export interface SummariserOptions {
  readonly catalogue: Catalogue;
  readonly providers: Providers;
  readonly counter: TextCounter;
  readonly onNotice: (notice: string) => void;
}

/**
 * The returned function takes the configured name and the session's own model. It returns null for the own model: if no
 * other is configured, or if the other cannot be reached, which is reported once. A missing summariser fails no turn.
 */
export function createFindSummariser({
  catalogue,
  providers,
  counter,
  onNotice,
}: SummariserOptions): (name: string | null, own: string) => Promise<Summariser | null> {
  const reported = new Set<string>();
  const useOwn = (name: string, why: string): null => {
    const notice = `summaries are written by the session's own model: ${why}`;
    if (!reported.has(name)) onNotice(notice);
    reported.add(name);
    return null;
  };
  return async (name, own) => {
    if (name === null) return null;
    const model = findModel(name, catalogue)?.facts;
    if (model === undefined) return useOwn(name, `the model ${name} is unknown`);
    // The session's own model reads the conversation from its cache.
    if (model.id === findModel(own, catalogue)?.facts.id) return null;
    try {
      return toSummariser(model, await providers.reach(model), counter);
    } catch (error) {
      if (error instanceof StrataError) return useOwn(name, error.message);
      throw error;
    }
  };
}

export function toSummariser(
  model: ModelFacts,
  { protocol, provider }: Pick<Summariser, "protocol" | "provider">,
  counter: TextCounter,
): Summariser {
  const options = optionsOf({ model: model.id }, model);
  return {
    model,
    protocol,
    provider,
    counter: createTokenCounter(counter, model.tokenizer),
    options,
  };
}
