// The names alone: help and command tables need no more.

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
