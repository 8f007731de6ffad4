// Drift by agent, provider and model, as values that an exporter reads.
import {
  addDrift,
  openDriftSeries,
  toDriftPercent,
  type Drift,
  type DriftAgainst,
  type DriftLabels,
  type DriftSeries,
} from "../../core/tokens/drift.ts";

export interface DriftBook {
  /** The last count before a call. */
  noteEstimate(labels: DriftLabels, tokens: number): void;
  compare(
    labels: DriftLabels,
    against: DriftAgainst,
    estimatedTokens: number,
    actualTokens: number,
  ): void;
  figures(): DriftFigures;
}

export interface DriftFigures {
  /** For `llm_prompt_tokens_estimated`: the last value of each. */
  readonly estimated: readonly LastEstimate[];
  /** For `llm_prompt_tokens_drift`: those against the bill. */
  readonly drift: readonly DriftSeries[];
  /** Comparisons with nothing. */
  readonly driftSkipped: number;
}

export interface LastEstimate {
  readonly labels: DriftLabels;
  readonly tokens: number;
}

export function createDriftBook(onDrift: (drift: Drift) => void): DriftBook {
  const estimates = new Map<string, LastEstimate>();
  const series = new Map<string, DriftSeries>();
  let driftSkipped = 0;
  return {
    noteEstimate: (labels, tokens) => {
      estimates.set(toKey(labels), { labels, tokens });
    },
    compare: (labels, against, estimatedTokens, actualTokens) => {
      const percent = toDriftPercent(estimatedTokens, actualTokens);
      if (percent === null) {
        driftSkipped += 1;
        return;
      }
      const key = `${against} ${toKey(labels)}`;
      series.set(key, addDrift(series.get(key) ?? openDriftSeries(labels, against), percent));
      onDrift({ labels, against, estimatedTokens, actualTokens, percent });
    },
    figures: () => ({
      estimated: [...estimates.values()],
      drift: [...series.values()],
      driftSkipped,
    }),
  };
}

function toKey({ agent, provider, model }: DriftLabels): string {
  return JSON.stringify([agent, provider, model]);
}
