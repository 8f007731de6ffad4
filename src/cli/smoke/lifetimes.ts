// strata smoke --lifetimes: settles with four calls and a pause what a provider's documents leave open about lifetimes.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { modelOf } from "../../core/config/resolve-agent.ts";
import type { PolicyName } from "../../core/cache/policy.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Usage } from "../../core/message/usage.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { trialAgent } from "../../core/session/session-state.ts";
import { StrataError } from "../../core/strata-error.ts";
import { loadO200k } from "../../core/tokens/o200k/counter.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { createEngine, type Engine } from "../../engine/session/create-engine.ts";
import type { EngineSession } from "../../engine/session/engine-session.ts";
import { emptyWorld } from "../../engine/world/world.ts";
import { openHost, type Host } from "../../host/open-host.ts";
import { createVirtualClock } from "../../simulator/clock.ts";
import type { SimulatorOptions } from "../../simulator/index.ts";
import type { CommandInput, Io } from "../command.ts";
import { confirm } from "../confirm.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import { createProgress } from "../progress.ts";
import { useMadeLedger } from "../use-ledger.ts";
import {
  afterName,
  judgeLifetimes,
  trialCost,
  type LifetimesVerdict,
} from "./lifetimes-verdict.ts";
import { costText, outputTokensMax, toSmokeTurn, type SmokeTurn } from "./smoke-checks.ts";

/** Time as the trial sees it. */
export interface TrialClock {
  now(): number;
  pass(ms: number): Promise<void>;
}

/** Five minutes, what providers were seen to grant beyond them, and some more. */
const pauseMs = 330_000;

export interface LifetimesTrial {
  readonly input: CommandInput;
  readonly io: Io;
  /** A name or alias. */
  readonly model: string;
  /** For tests: the provider's clock, and how a simulated provider reads the rules. */
  readonly clock?: TrialClock;
  readonly simulator?: SimulatorOptions;
}

/** A simulated trial is not kept. A real one is recorded call by call in the configured ledger, which is opened first. */
export async function smokeLifetimes(trial: LifetimesTrial): Promise<number> {
  const ledger = await openLedger(":memory:");
  try {
    const status = await withHost(trial, ledger, (host, clock) =>
      host.isSimulated ? runTrial(trial, host, clock) : Promise.resolve(null),
    );
    if (status !== null) return status;
  } finally {
    await ledger.close();
  }
  return useMadeLedger(trial.input, trial.io, (store) =>
    withHost(trial, store.ledger, (host, clock) => runTrial(trial, host, clock)),
  );
}

async function withHost<Result>(
  trial: LifetimesTrial,
  ledger: Ledger,
  work: (host: Host, clock: TrialClock) => Promise<Result>,
): Promise<Result> {
  const { input, io } = trial;
  const virtual = createVirtualClock();
  const configFile = input.values.get("config");
  const host = await openHost({
    env: io.env,
    ledger,
    model: trial.model,
    typed: [{ name: "--model", path: ["models", "default"], value: trial.model }],
    simulator: { clock: virtual, ...trial.simulator },
    onNotice: (text) => io.error(`${text}\n`),
    ...(configFile === undefined ? {} : { configFile }),
  });
  try {
    const pass = (ms: number): Promise<void> => virtual.advance(ms);
    const simulated: TrialClock = { now: () => virtual.now(), pass };
    return await work(host, host.isSimulated ? simulated : (trial.clock ?? realClock(io)));
  } finally {
    await host.close();
  }
}

function realClock(io: Io): TrialClock {
  return {
    now: Date.now,
    pass: async (ms) => {
      io.error(`Two calls are made. The next one follows after a pause of ${ms / 1000} s.\n`);
      const progress = createProgress(io, "of the pause that the short entries must not outlive");
      const endMs = Date.now() + ms;
      for (let leftMs = ms; leftMs > 0; leftMs = endMs - Date.now()) {
        progress.update(ms - leftMs, ms);
        await sleep(Math.min(1000, leftMs));
      }
      progress.end();
    },
  };
}

async function runTrial(trial: LifetimesTrial, host: Host, clock: TrialClock): Promise<number> {
  const { input, io } = trial;
  const { isSimulated } = host;
  const id = `lifetimes-${randomUUID()}`;
  const engine = await openTrialEngine(trial, host, clock, id);
  const first = await engine.openWith("latest-user", id);
  const { model, thread } = first.session;
  const most = needPrice(model, thread.end.tokens, clock.now());
  const question = `Four calls to ${model.id} of ${model.provider} over about six minutes cost at most ${formatUsdRounded(most, 3)}. Send them?`;
  if (!isSimulated && !(await confirm(question, input.switches.has("yes")))) {
    io.error("Nothing was sent.\n");
    return 0;
  }
  const calls = await sendCalls(engine, clock, first);
  const verdict = judgeLifetimes(calls.map(({ usage }) => usage));
  const recordedAs = isSimulated ? null : id;
  const turns = calls.map(({ turn }) => turn);
  const about = { model: model.id, provider: model.provider, isSimulated, recordedAs };
  const result: TrialResult = { ...about, ...verdict, calls: turns };
  io.out(input.switches.has("json") ? toJsonLine(result) : render(result));
  return verdict.step === "unclear" ? 1 : 0;
}

/** Throws before anything is sent. */
function needPrice(model: ModelFacts, prefixTokens: number, at: number): bigint {
  const names = model.cache.lifetimes.map(({ lifetime }) => lifetime);
  if (model.cache.markers === null || !names.includes("5m") || !names.includes("1h")) {
    throw new StrataError(
      "usage",
      `${model.id} of ${model.provider} has no markers for 5m and 1h, so there is nothing to settle`,
      "name a model of Anthropic with --model",
    );
  }
  const cost = trialCost(prefixTokens, model, at);
  if (cost !== null) return cost;
  throw new StrataError(
    "usage",
    `the price of ${model.id} is not known`,
    "choose a model with a price",
  );
}

interface TrialEngine {
  readonly openWith: (policy: PolicyName, id: string) => ReturnType<Engine["open"]>;
  readonly resumeWith: (policy: PolicyName, id: string) => ReturnType<Engine["resume"]>;
}

/** An engine without tools whose policy changes from call to call. Its system text is new to the provider. */
async function openTrialEngine(
  { model }: LifetimesTrial,
  { ledger, providers, catalogue, config }: Host,
  clock: TrialClock,
  id: string,
): Promise<TrialEngine> {
  const counter = await loadO200k();
  const system = `Trial ${id}.\n${"Every answer is one short sentence about prompt caches and nothing else. ".repeat(300)}`;
  let policy: PolicyName = "none";
  const engine = createEngine(
    () => {
      const options = { outputTokensMax, stream: false };
      return Promise.resolve({ model, agent: trialAgent, policy, options });
    },
    {
      ledger,
      catalogue,
      counter,
      reach: (facts) => providers.reach(facts),
      nameModel: (name) => modelOf(config(), name),
      world: () =>
        Promise.resolve({ ...emptyWorld, context: () => Promise.resolve({ parts: { system } }) }),
      now: () => clock.now(),
    },
  );
  return {
    openWith: (chosen, name) => {
      policy = chosen;
      return engine.open({ id: name });
    },
    resumeWith: (chosen, name) => {
      policy = chosen;
      return engine.resume(name);
    },
  };
}

interface TrialCall {
  readonly turn: SmokeTurn;
  readonly usage: Usage | null;
}

/**
 * 1 marks the head and its end for 5m. 2 marks only its end, for 1h. After the pause, 3 marks the head and its end for
 * 5m again: it reads what 2 kept, if that lives. 4 has another question after the same head.
 */
async function sendCalls(
  engine: TrialEngine,
  clock: TrialClock,
  first: EngineSession,
): Promise<readonly TrialCall[]> {
  const { id } = first;
  const calls: TrialCall[] = [];
  const ask = async (session: EngineSession, text: string): Promise<boolean> => {
    const { calls: made } = await session.run(text).result;
    calls.push({ turn: toSmokeTurn(made), usage: made.at(-1)?.usage ?? null });
    await session.close();
    return calls.at(-1)?.turn.failure === null;
  };
  const isGoing =
    (await ask(first, "What makes a prompt cache hit?")) &&
    (await ask(await engine.resumeWith("tail-1h", id), "What makes it miss?"));
  if (!isGoing) return calls;
  await clock.pass(pauseMs);
  if (!(await ask(await engine.resumeWith("latest-user", id), "What does a pause do?"))) {
    return calls;
  }
  await ask(await engine.openWith("latest-user", afterName(id)), "What is a prefix?");
  return calls;
}

interface TrialResult extends LifetimesVerdict {
  readonly model: string;
  readonly provider: string;
  readonly isSimulated: boolean;
  /** The session in the ledger; null for a simulated trial, which is not kept. */
  readonly recordedAs: string | null;
  readonly calls: readonly SmokeTurn[];
}

function render({
  model,
  isSimulated,
  calls,
  step,
  head,
  reasons,
  recordedAs,
}: TrialResult): string {
  const rows = calls.map(
    (call, at) =>
      `call ${at + 1}  written ${call.writtenTokens}, read ${call.readTokens}, uncached ${call.uncachedTokens}, ${costText(call.costPicoUsd)}${call.failure === null ? "" : `, ${call.failure}`}\n`,
  );
  const simulated = isSimulated ? ", simulated: this shows the trial, not the provider" : "";
  const said = reasons.map((reason) => `${reason}\n`).join("");
  const kept =
    recordedAs === null
      ? ""
      : `kept in the ledger as session ${recordedAs}; strata doctor shows it\n`;
  return `${model}${simulated}\n${rows.join("")}a long part at the end keeps the whole prefix: ${step}\nan expired head after a marker on it: ${head}\n${said}${kept}`;
}
