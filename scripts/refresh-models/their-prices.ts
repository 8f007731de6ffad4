// Model facts of another source, in one form for all sources. Dollars per million tokens.

export interface TheirSource {
  readonly name: string;
  /** The date of their data; null if unknown. */
  readonly datedOn: string | null;
  readonly models: readonly TheirModel[];
}

export interface TheirModel {
  /** Our name for the provider. */
  readonly provider: string;
  readonly id: string;
  /** Every name they list as exactly this model, in lower case. */
  readonly names: readonly string[];
  readonly windowTokens: number | null;
  readonly rows: readonly TheirRow[];
  /** Why the rows are incomplete, for example other prices at night. */
  readonly caveat: string | null;
}

export interface TheirRow {
  readonly from: string | null;
  readonly prices: TheirPrices;
  readonly tier: (TheirPrices & { readonly above: number }) | null;
}

/** Null: they have no such price. `write` is for the shortest lifetime. */
export interface TheirPrices {
  readonly input: number | null;
  readonly output: number | null;
  readonly read: number | null;
  readonly write: number | null;
  readonly write1h: number | null;
}

/** The row in force on a day. */
export function theirRowOn(model: TheirModel, day: string): TheirRow | undefined {
  return model.rows.findLast((row) => row.from === null || row.from <= day) ?? model.rows[0];
}
