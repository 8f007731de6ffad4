// Finds the configured model for summaries.
import type { Catalogue } from "../../core/models/catalogue.ts";
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
  const told = new Set<string>();
  const useOwn = (name: string, why: string): null => {
    const notice = `summaries are written by the session's own model: ${why}`;
    if (!told.has(name)) onNotice(notice);
    told.add(name);
    return null;
  };
  return async (name, own) => {
    if (name === null) return null;
    const model = findModel(name, catalogue)?.facts;
    if (model === undefined) return useOwn(name, `the model ${name} is unknown`);
    // The session's own model reads the conversation from its cache.
    if (model.id === findModel(own, catalogue)?.facts.id) return null;
    try {
      const { protocol, provider } = await providers.reach(model);
      return {
        model,
        protocol,
        provider,
        counter: createTokenCounter(counter, model.tokenizer),
        options: optionsOf({ model: model.id }, model),
      };
    } catch (error) {
      if (error instanceof StrataError) return useOwn(name, error.message);
      throw error;
    }
  };
}
