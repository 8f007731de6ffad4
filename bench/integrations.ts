// Each integration on three workloads, without and with Strata: cost, added time per call, and whether requests kept their meaning.
import { median } from "../harness/measure.ts";
import { atMost, exactly, type Check, type Experiment, type Figure } from "../harness/report.ts";
import { workloads } from "../harness/workloads.ts";
import { play, type Integration, type Play } from "./integrations/play.ts";
import { countDifferent } from "./integrations/same-meaning.ts";
import { langchain } from "./integrations/langchain.ts";
import { openaiAgents } from "./integrations/openai-agents.ts";
import { anthropicSdk, openaiSdk } from "./integrations/sdk.ts";

const integrations: readonly Integration[] = [anthropicSdk, openaiSdk, langchain, openaiAgents];

/** A session is timed several times: the first compiles what the others use. */
const runs = 5;
/** What an integration may add to a call: time over the simulator's to answer the same call, which reads and bills it. */
const addedMax = 3;

export const experiment: Experiment = {
  summary: "integrations without and with Strata: cost, added time per call, meaning of requests",
  async run({ progress }) {
    const figures: Record<string, Figure> = {};
    const checks: Check[] = [];
    let [without, with_] = [0n, 0n];
    for (const { name, plays } of integrations) {
      progress(name);
      const sessions = await compareAll(plays);
      const ratios = sessions.map(({ costs }) => toRatio(costs));
      const sum = sessions.reduce(addCosts, [0n, 0n]);
      [without, with_] = [without + sum[0], with_ + sum[1]];
      const different = sessions.reduce((total, each) => total + each.different, 0);
      const addedMs = median(sessions.map((each) => each.addedMs));
      figures[`${name}: cost with Strata / without`] = toRatio(sum);
      figures[`${name}: the dearest session against itself without`] = Math.max(...ratios);
      const added = median(sessions.map((each) => each.addedOverProvider));
      figures[`${name}: added ms per call`] = addedMs;
      figures[`${name}: added time / the simulator's`] = added;
      figures[`${name}: requests that say something else`] = different;
      for (const { session, costs } of sessions) {
        figures[`${name}, ${session}: cost with / without`] = toRatio(costs);
      }
      checks.push(
        atMost(`${name}: the dearest session`, Math.max(...ratios), 1.03),
        atMost(`${name}: all sessions`, toRatio(sum), 1),
        atMost(`${name}: added time / the simulator's`, added, addedMax),
        exactly(`${name}: requests that say something else`, different, 0),
      );
    }
    checks.push(atMost("the sum of all integrations", toRatio([without, with_]), 1));
    return { figures, checks };
  },
};

type Costs = readonly [without: bigint, with_: bigint];

interface ComparedSession {
  readonly session: string;
  readonly costs: Costs;
  readonly addedMs: number;
  readonly addedOverProvider: number;
  readonly different: number;
}

async function compareAll(plays: Integration["plays"]): Promise<readonly ComparedSession[]> {
  const sessions: ComparedSession[] = [];
  for (const [way, run] of Object.entries(plays)) {
    for (const workload of workloads) {
      sessions.push(await compare(`${way}, ${workload.name}`, run, workload));
    }
  }
  return sessions;
}

async function compare(
  session: string,
  run: Play,
  workload: (typeof workloads)[number],
): Promise<ComparedSession> {
  const plain = await play(run, { workload, withStrata: false });
  const strata = await play(run, { workload, withStrata: true });
  const added = [];
  const overProvider = [];
  for (let at = 1; at < runs; at += 1) {
    const { msPerCall, providerMsPerCall } = await play(run, { workload, withStrata: false });
    const again = await play(run, { workload, withStrata: true });
    added.push(again.msPerCall - msPerCall);
    overProvider.push((again.msPerCall - msPerCall) / providerMsPerCall);
  }
  return {
    session,
    costs: [plain.costPicoUsd, strata.costPicoUsd],
    addedMs: median(added),
    addedOverProvider: median(overProvider),
    different: countDifferent(plain.bodies, strata.bodies),
  };
}

function addCosts(sum: Costs, { costs }: ComparedSession): Costs {
  return [sum[0] + costs[0], sum[1] + costs[1]];
}

function toRatio([without, with_]: Costs): number {
  return Number(with_) / Number(without);
}
