// Conversations that fill a small window.
import { defaultCompactionSettings, type EngineConfig, type EngineSession } from "./kit.ts";
import type { Process, ProcessOptions } from "./process.ts";
import type { Stage } from "./stage.ts";
import { textOf } from "./world.ts";

type Settings = NonNullable<EngineConfig["compaction"]>;

export const small: Settings = {
  ...defaultCompactionSettings,
  summaryTokensMax: 1_500,
  indexTokensMax: 600,
};

/** Compacts at half of the window, whatever it costs. */
export const soon: Settings = {
  ...small,
  isEnabled: true,
  timing: "at once",
  compactAtShare: 0.5,
  auto: { ...small.auto, turnsBetweenMin: 2, callsBetweenMin: 3 },
};

export function setup(compaction: Settings, more: ProcessOptions = {}): ProcessOptions {
  return { windowTokens: 20_000, ...more, config: { compaction, ...more.config } };
}

/** Turns of some hundred tokens each. */
export async function talk(
  stage: Stage,
  { say }: Process,
  session: EngineSession,
  numbers: readonly number[],
  lines = 70,
): Promise<void> {
  for (const number of numbers) {
    await stage.pass(20_000);
    await say(session, `Step ${number}: look at it.\n${textOf(`module-${number}.ts`, lines)}`);
  }
}
