// `strata-context/analytics`: ask a ledger from a program.
export { openDatabase } from "../edge/stores/open-ledger.ts";
export { analyses, isAnalysis } from "./analyses.ts";
export { analysisNames, type AnalysisName } from "./analysis-names.ts";
export type { Analysis, AnalyticsQuery, AnalyticsSource, AnalyticsWorld } from "./analysis.ts";
export { analyticsCodeOf, type AnalyticsErrorCode } from "./analytics-error.ts";
export { askLedger, pricingVersionOf, type Answer } from "./ask-ledger.ts";
export { cacheEffectiveness } from "./cache-effectiveness.ts";
export { compactions } from "./compactions.ts";
export { cost } from "./cost.ts";
export { misses } from "./misses.ts";
export { reliability } from "./reliability.ts";
export { routing } from "./routing.ts";
export { savings } from "./savings.ts";
export { sessions } from "./sessions.ts";
export { skills } from "./skills.ts";
export { turns } from "./turns.ts";
