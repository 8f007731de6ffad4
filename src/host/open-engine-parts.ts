// What an engine on this machine stands on: configuration, ledger, events and metrics, opened and closed together.
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigOption } from "../core/config/read-config.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { ProviderConfig } from "../core/config/schema/providers.ts";
import { createEventIds } from "../core/events/event-ids.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import { StrataError } from "../core/strata-error.ts";
import { findConfigFiles } from "../edge/config/find-config-files.ts";
import { openConfig } from "../edge/config/open-config.ts";
import type { EventBus } from "../edge/events/event-bus.ts";
import type { BusProblem } from "../edge/events/problem.ts";
import { isUsable } from "../edge/providers/reach-choice.ts";
import type { Environment } from "./environment.ts";

export interface FollowedConfig {
  /** As it was last looked at. */
  now(): StrataConfig;
  /** Looks at the files again. Never fails. */
  current(): Promise<StrataConfig>;
}

export interface WhereConfigured {
  readonly workspace: string;
  /** From `--config`. */
  readonly configFile?: string | undefined;
  readonly env: Environment;
  readonly homeFolder?: string | undefined;
  /** What was typed; stronger than everything else. */
  readonly typed?: readonly ConfigOption[] | undefined;
  readonly onNotice: (notice: string) => void;
}

export async function followConfig(where: WhereConfigured): Promise<FollowedConfig> {
  const { workspace, configFile, env, onNotice, typed = [], homeFolder = homedir() } = where;
  const live = await openConfig({
    files: findConfigFiles({ given: configFile, env, workspace, homeFolder }),
    env,
    options: typed,
    homeFolder,
    onProblem: ({ message, hint }) => onNotice(`${message}\n  ${hint}`),
  });
  let now = await live.current();
  return {
    now: () => now,
    current: async () => {
      now = await live.current();
      return now;
    },
  };
}

/** The model of an agent for whom nobody chose one: by whom it can be answered. */
export function usualModel(providers: ReadonlyMap<string, ProviderConfig>): string {
  const usable = [...providers].flatMap(([name, settings]) => (isUsable(settings) ? [name] : []));
  const [named] = usualModels.filter(([name]) => usable.includes(name));
  if (named !== undefined) return named[1];
  if (usable.length === 0) return simulatedModel;
  throw new StrataError(
    "config-invalid",
    `no model is chosen, and ${usable.join(", ")} has no usual one`,
    "name one as models.default in your strata.yaml, or with --model",
  );
}

const usualModels: readonly (readonly [string, string])[] = [
  ["anthropic", "claude-sonnet-5-5"],
  ["openai", "gpt-6.1-sol"],
];
const simulatedModel = "claude-sonnet-5-5";

/** A folder that is gone with the engine, for a simulated agent that nobody gave one. */
export async function makeWorkspace(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "strata-workspace-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Of skills for every workspace, where nobody names another. */
export function usualSkillsRoot(homeFolder: string = homedir()): string {
  return join(homeFolder, ".strata", "skills");
}

/**
 * Ids of a session's events go on after those that are stored, also where their maker's clock was ahead of ours. Gives
 * the last of them; null where none is known.
 */
export async function continueEvents(
  bus: Pick<EventBus, "continueSession">,
  ledger: Pick<Ledger, "findSession" | "readEvents">,
  sessionId: string,
): Promise<string | null> {
  const touchedMs = (await ledger.findSession(sessionId))?.updatedMs ?? Infinity;
  const fromMs = Math.min(Date.now(), touchedMs - eventsLateMs);
  // The smallest id of that moment.
  const afterId = createEventIds().next(fromMs, new Uint8Array(10));
  let last: string | null = null;
  for await (const { id } of ledger.readEvents({ sessionId, afterId })) last = id;
  if (last !== null) bus.continueSession(sessionId, last);
  return last;
}

/** A session's last events are told about when it was last written to; clocks differ. */
const eventsLateMs = 60_000;

/** For a person, without the events themselves; null for what is nothing to a person. */
export function describeBusProblem(problem: BusProblem): string | null {
  switch (problem.kind) {
    case "event-invalid":
      return `an event of the type ${problem.type} is not as catalogued`;
    case "handler-failed":
      return `somebody who was told of ${problem.type} failed: ${messageOf(problem.error)}`;
    case "handler-slow":
      return null;
    case "handler-overrun":
      return `${problem.missedCount} events did not reach somebody who is too slow`;
    case "queue-full":
      return `${problem.refusedCount} events were not taken: ${problem.queueMax} others wait`;
    case "queue-recovered":
      return `events are taken again; ${problem.refusedCount} were not`;
    case "write-retried":
      return `${problem.eventCount} events are not stored yet: ${messageOf(problem.error)}`;
    case "write-failed":
      return `${problem.eventCount} events were not stored: ${messageOf(problem.error)}`;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
