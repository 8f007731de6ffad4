// Only the names, so that help and command tables need not load the analyses.

export const analysisNames = [
  "cache_effectiveness",
  "cost",
  "savings",
  "sessions",
  "turns",
  "reliability",
  "routing",
  "skills",
  "misses",
  "compactions",
] as const;

export type AnalysisName = (typeof analysisNames)[number];
