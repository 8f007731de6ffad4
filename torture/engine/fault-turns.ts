// Runs turns of one engine and protocol while its provider fails, and checks each turn at its end.
import { createRandom, type Random } from "../../harness/random-message.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { findProtocol, type ProtocolName } from "../../src/core/wire/protocols.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import { createEcho, type Simulator } from "../../src/simulator/index.ts";
import { checkEvents, checkTurn, type PlayedTurn } from "./judge-turn.ts";
import {
  eventsOf,
  openPlace,
  serveSimulator,
  startEngine,
  type Place,
  type Started,
} from "./place.ts";
import { patienceMs, plantWireFaults, simulatedFaults } from "./plant-faults.ts";

export interface FaultsOptions {
  /** A file or a connection string. */
  readonly store: string;
  readonly turns: number;
  readonly seed: number;
  /** Share of requests with a fault. */
  readonly rate: number;
  readonly progress?: (line: string) => void;
}

/** Repeated to make the key, so that parts of it are found too. */
export const keyWord = "R3peat4K";
/** Not the planted key, because servers repeat this one on purpose. */
const key = `sk-ant-api03-${keyWord.repeat(5)}-AA`;
/** Part of a user's message, so it must be in the ledger. */
export const canary = "sk-ant-canary-4177-0123456789";

export interface Tally {
  turns: number;
  replies: number;
  partials: number;
  readonly failures: Map<string, number>;
  readonly faults: Map<string, number>;
}

export interface ProtocolRun extends FaultsOptions {
  readonly protocol: ProtocolName;
  readonly model: string;
  readonly tally: Tally;
  readonly leaks: string[];
}

/** Returns the problems of its turns, in words. */
export async function playProtocol(run: ProtocolRun): Promise<readonly string[]> {
  const { protocol, rate, seed, tally } = run;
  const place = openPlace();
  const random = createRandom(seed);
  const count = (fault: string): void => add(tally.faults, fault);
  const served = await serveSimulator(
    { model: createEcho(), faults: simulatedFaults(rate * 0.7, seed), callsMax: 100_000 },
    plantWireFaults({ protocol, rate: rate * 0.3, random: createRandom(seed + 1), count }),
  );
  place.configure(toYaml(run, served.url));
  const started = await startEngine(place, { store: run.store });
  try {
    return await playTurns(run, { place, started, random, ...served });
  } finally {
    await started.close();
    await served.close();
    place.close();
  }
}

function toYaml({ protocol, model }: ProtocolRun, url: string): string {
  const access = findProtocol(protocol)?.access;
  if (access === undefined) throw new Error(`${protocol} is not known`);
  return `
models: { default: ${model} }
tools: { toolset: none }
providers:
  ${resolveModel(model).facts.provider}:
    kind: ${access.kind}
    base_url: "${url}${new URL(access.baseUrl).pathname}"
    api_key: "${key}"
    timeouts: { connect_ms: 2000, first_byte_ms: ${patienceMs}, idle_ms: ${patienceMs} }
    retries: { attempts_max: 2, backoff_ms_base: 1, backoff_ms_max: 2, retry_after_ms_max: 1000 }
`;
}

interface Stage {
  readonly place: Place;
  readonly started: Started;
  readonly random: Random;
  readonly url: string;
  readonly simulator: Simulator;
}

/** After this many turns a new session starts, so that histories do not only grow. */
const turnsPerSession = 50;

async function playTurns(run: ProtocolRun, stage: Stage): Promise<readonly string[]> {
  const { started, simulator } = stage;
  const unclear: string[] = [];
  const played: PlayedTurn[] = [];
  let session: EngineSession | null = null;
  for (let number = 0; number < run.turns; number += 1) {
    if (number % turnsPerSession === 0) {
      await session?.close();
      session = await started.engine.open({ id: `${run.protocol}-${number}` });
    }
    if (session === null) continue;
    const turn = await playTurn(run, stage, session, number);
    played.push(turn);
    unclear.push(...(await checkTurn(turn, started.ledger)));
    note(run, turn);
    if (run.tally.turns % 100 === 0)
      run.progress?.(`${run.tally.turns} turns, ${run.tally.replies} replies`);
  }
  await session?.close();
  for (const sessionId of new Set(played.map((turn) => turn.sessionId))) {
    const events = await eventsOf(started, sessionId);
    const own = played.filter((turn) => turn.sessionId === sessionId);
    unclear.push(...checkEvents(own, events));
    if (JSON.stringify(events).includes(keyWord)) run.leaks.push(`events of ${sessionId}`);
  }
  for (const { fault } of simulator.calls()) if (fault !== null) add(run.tally.faults, fault);
  if (started.notices.join("\n").includes(keyWord)) run.leaks.push("a notice");
  if ((await started.metrics.render()).includes(keyWord)) run.leaks.push("metrics");
  return unclear.map((problem) => `${run.protocol}: ${problem}`);
}

/** Most turns use the configured address; some an address without a server, or one that contains the key. */
async function playTurn(
  run: ProtocolRun,
  { place, random, url }: Stage,
  session: EngineSession,
  number: number,
): Promise<PlayedTurn> {
  const chance = random();
  const isRefused = chance < run.rate / 10;
  const isSecret = !isRefused && chance < run.rate / 5;
  const yaml = toYaml(run, isRefused ? "http://127.0.0.1:1" : url);
  if (isRefused) add(run.tally.faults, "refused");
  if (isSecret) add(run.tally.faults, "key in the address");
  place.configure(isSecret ? yaml.replace("http://", `http://ana:${key}@`) : yaml);
  const words = number === 0 ? canary : "Say this again, so that it takes a while. ".repeat(10);
  const handle = session.run(`Turn ${number}. ${words}`);
  let arrived = "";
  let errorText = "";
  for await (const part of handle) {
    if (part.type === "phase" && part.phase === "calling") arrived = "";
    if (part.type === "text") arrived += part.text;
    if (part.type === "failed") errorText = String(part.error);
  }
  const ended = await handle.result.catch(() => null);
  const failure = ended?.calls.at(-1)?.failure ?? null;
  const texts =
    errorText + JSON.stringify(failure) + JSON.stringify(ended?.calls.map(({ notes }) => notes));
  if (texts.includes(keyWord)) run.leaks.push(`what turn ${number} of ${session.id} says`);
  return {
    id: handle.turnId,
    sessionId: session.id,
    end: ended?.end ?? `an error: ${errorText}`,
    failure,
    arrived,
  };
}

function note({ tally }: ProtocolRun, { end, failure, arrived }: PlayedTurn): void {
  tally.turns += 1;
  if (end === "done") {
    tally.replies += 1;
    return;
  }
  if (arrived !== "") tally.partials += 1;
  add(tally.failures, failure?.kind ?? "none");
}

function add(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
