// What holds throughout a course: the time, the rules of compaction, where people are.
import { defaultCompactionSettings } from "../../src/core/compaction/plan/settings.ts";
import type { EventMoment } from "../../src/core/layers/event.ts";
import type { CompactionRules } from "../../src/core/session/compaction-rules.ts";
import type { Course } from "./course.ts";

const startMs = 1_800_000_000_000;
const pauseMs = 1_200_000;

/** The same at the same place of a course, however often it comes there. */
export function timeOf({ tickMs }: Course, turns: number, answered: number): number {
  return startMs + turns * pauseMs + answered * tickMs;
}

export const moment: EventMoment = { platform: "terminal" };

export function rulesOf({
  isProactive,
  mayUseProvider,
  isCrowded,
}: Course): Required<Pick<CompactionRules, "settings" | "reserves">> {
  return {
    reserves: { responseTokens: 500, toolTokens: 500 },
    settings: {
      ...defaultCompactionSettings,
      isEnabled: isProactive,
      timing: "at once",
      compactAtShare: 0.6,
      tailKeepTokens: 2_500,
      ...(isCrowded ? keepsMuch : {}),
      mayUseProvider,
      auto: { ...defaultCompactionSettings.auto, turnsBetweenMin: 1, callsBetweenMin: 2 },
    },
  };
}

/** A compaction leaves enough for another one. */
const keepsMuch = {
  tailKeepTokens: 3_500,
  tailShareMax: 0.5,
  tailTurnsMin: 1,
  recoveryTargetShare: 0.9,
};
