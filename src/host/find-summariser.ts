// Another model for summaries, where one is configured.
import type { Catalogue } from "../core/models/catalogue.ts";
import { findModel } from "../core/models/resolve-model.ts";
import { StrataError } from "../core/strata-error.ts";
import type { TextCounter } from "../core/tokens/o200k/counter.ts";
import { createTokenCounter } from "../core/tokens/token-counter.ts";
import type { Providers } from "../edge/providers/reach-providers.ts";
import { optionsOf } from "../engine/engine-config.ts";
import type { Summariser } from "../engine/summarise-transcript.ts";

export interface SummariserEdges {
  readonly catalogue: Catalogue;
  readonly providers: Providers;
  readonly counter: TextCounter;
  readonly onNotice: (notice: string) => void;
}

/**
 * Null for the session's own model: where no other is wanted, and where the other cannot be asked, which is said once.
 * A summary is no reason to fail a turn.
 */
export function createFindSummariser({
  catalogue,
  providers,
  counter,
  onNotice,
}: SummariserEdges): (name: string | null, own: string) => Promise<Summariser | null> {
  const told = new Set<string>();
  const instead = (name: string, why: string): null => {
    const notice = `summaries are written by the session's own model: ${why}`;
    if (!told.has(name)) onNotice(notice);
    told.add(name);
    return null;
  };
  return async (name, own) => {
    if (name === null) return null;
    const model = findModel(name, catalogue)?.facts;
    if (model === undefined) return instead(name, `the model ${name} is unknown`);
    // The own one reads the conversation from its cache.
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
      if (error instanceof StrataError) return instead(name, error.message);
      throw error;
    }
  };
}
