// All analyses by name.
import type { Analysis } from "./analysis.ts";
import type { AnalysisName } from "./analysis-names.ts";
import { cacheEffectiveness } from "./cache-effectiveness.ts";
import { compactions } from "./compactions.ts";
import { cost } from "./cost.ts";
import { misses } from "./misses.ts";
import { reliability } from "./reliability.ts";
import { routing } from "./routing.ts";
import { savings } from "./savings.ts";
import { sessions } from "./sessions.ts";
import { skills } from "./skills.ts";
import { turns } from "./turns.ts";

export const analyses: Readonly<Record<AnalysisName, Analysis>> = {
  cache_effectiveness: cacheEffectiveness,
  cost,
  savings,
  sessions,
  turns,
  reliability,
  routing,
  skills,
  misses,
  compactions,
};

export function isAnalysis(name: string): name is AnalysisName {
  return Object.hasOwn(analyses, name);
}
