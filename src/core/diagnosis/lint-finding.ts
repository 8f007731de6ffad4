// A finding about a request: something that breaks caching, or that a provider refuses.

export interface LintFinding {
  readonly rule: LintRule;
  /** `error`: the provider refuses it. `warning`: it costs on every call. `info`: worth a look. */
  readonly severity: "error" | "warning" | "info";
  /** The path in the body; empty for the whole body. */
  readonly path: string;
  readonly message: string;
  readonly advice: string;
}

export const lintRules = [
  "clock",
  "uuid",
  "random-id",
  "volatile-before-marker",
  "marker-on-changing-block",
  "tools-unsorted",
  "marker-below-minimum",
  "marker-not-taken",
  "lifetime-order",
  "too-many-markers",
  "no-marker",
  "unknown-model",
] as const;

export type LintRule = (typeof lintRules)[number];
