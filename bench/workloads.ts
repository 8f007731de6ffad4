// Three tasks end to end on the simulator, on both stores: the cost of each policy, adaptive against the others.
import { startPostgres } from "../harness/postgres.ts";
import { atMost, exactly, type Check, type Experiment, type Figure } from "../harness/report.ts";
import { toResult } from "../harness/simulated-session.ts";
import { workloads, type Workload, type WorkTurn } from "../harness/workloads.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { Policy } from "../src/core/cache/policy.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import { toToolDefinition } from "../src/core/message/tool-definition.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { anthropicEndpoint } from "../src/core/wire/anthropic-messages/access.ts";
import { createProvider } from "../src/edge/providers/provider.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { runTurn } from "../src/engine.ts";
import { openSession } from "../src/engine/session/open-session.ts";
import { createScripted, createSimulator } from "../src/simulator/index.ts";

/** A policy as it is, or one that pads where that pays. */
const ways = [
  "adaptive",
  "adaptive, padding auto",
  "none",
  "metis",
  "nexo",
  "hermes",
  "nexus",
] as const;
type Way = (typeof ways)[number];
const models = ["claude-sonnet-4-6", "claude-haiku-4-5"] as const;

export const experiment: Experiment = {
  summary:
    "three scripted workloads under six policies, and with padding, on both stores: what each costs",
  cpuRatioMax: 1.15,
  async run({ progress }) {
    const server = await startPostgres();
    const stores = { sqlite: ":memory:", postgres: await server.createDatabase() };
    const figures: Record<string, Figure> = {};
    const costs = new Map<string, bigint>();
    try {
      for (const [store, where] of Object.entries(stores)) {
        const ledger = await openLedger(where);
        for (const model of models) {
          for (const workload of workloads) {
            progress(`${workload.name} with ${model} on ${store}`);
            for (const way of ways) {
              const cost = await runWorkload({ workload, way, model, ledger });
              costs.set(`${store} ${model} ${workload.name} ${way}`, cost);
            }
          }
        }
        await ledger.close();
      }
    } finally {
      await server.stop();
    }
    for (const [name, cost] of costs) {
      if (name.startsWith("sqlite ")) figures[`${name.slice(7)}, dollars`] = toDollars(cost);
    }
    return { figures, checks: [...compare(costs), sameOnBoth(costs)] };
  },
};

/** `metis` always pads: no fair comparison for a prompt that is sent as it is. */
const unpadded: readonly Way[] = ["none", "nexo", "hermes", "nexus"];

function compare(costs: ReadonlyMap<string, bigint>): readonly Check[] {
  return models.flatMap((model) =>
    workloads.flatMap(({ name }) => {
      const costOf = (way: Way): number =>
        Number(costs.get(`sqlite ${model} ${name} ${way}`) ?? 0n);
      const cheapest = (others: readonly Way[]): number => Math.min(...others.map(costOf));
      const plain = costOf("adaptive") / cheapest(unpadded);
      const padded = costOf("adaptive, padding auto") / cheapest([...unpadded, "metis"]);
      return [
        atMost(`adaptive against the cheapest that does not pad: ${name}, ${model}`, plain, 1),
        atMost(`adaptive, padding auto, against the cheapest: ${name}, ${model}`, padded, 1),
      ];
    }),
  );
}

function sameOnBoth(costs: ReadonlyMap<string, bigint>): Check {
  const different = [...costs].filter(
    ([name, cost]) =>
      name.startsWith("sqlite ") && costs.get(name.replace("sqlite ", "postgres ")) !== cost,
  );
  return exactly("costs that differ between the stores", different.length, 0);
}

function toDollars(cost: bigint): number {
  return Number(cost) / 1e12;
}

interface WorkRun {
  readonly workload: Workload;
  readonly way: Way;
  readonly model: string;
  readonly ledger: Ledger;
}

function policyOf(way: Way): Policy {
  if (way !== "adaptive, padding auto") return findPolicy(way);
  const policy = findPolicy("adaptive");
  return { ...policy, layout: { ...policy.layout, padding: "auto" } };
}

async function runWorkload({ workload, way, model, ledger }: WorkRun): Promise<bigint> {
  const { facts } = resolveModel(model);
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createScripted(workload.turns.flatMap(toScript)),
  });
  const { clock } = simulator;
  const server = await simulator.listen({ port: 0 });
  const endpoint = anthropicEndpoint({ apiKey: "none needed", baseUrl: server.url });
  const provider = createProvider({ protocol: anthropicMessages, ...endpoint });
  let session = openSession({
    agent: "workload",
    model: facts,
    protocol: anthropicMessages,
    policy: policyOf(way),
    context: { workspaceRules: rules },
    tools: toolNames.map((name) => ({ definition: toTool(name), needs: [] })),
    counter: cheapCounter,
    pace: workload.pace,
    options: { outputTokensMax: 4_000, stream: true },
  });
  try {
    for (const turn of workload.turns) {
      await clock.advance(turn.afterSeconds * 1000);
      const steps = turn.steps.values();
      const run = await runTurn(
        session,
        { event: { content: turn.say, source: "human" } },
        {
          provider,
          ledger,
          now: () => clock.now(),
          runTools: async (uses) => {
            await clock.advance(4_000);
            const { tools = [] } = steps.next().value ?? {};
            return uses.map((use, at) => toResult(use, tools[at]?.result ?? ""));
          },
        },
      );
      if (run.end !== "done") throw new Error(`${workload.name} under ${way}: ${run.end}`);
      ({ session } = run);
    }
    return (await ledger.findSession(session.id))?.costPicoUsd ?? 0n;
  } finally {
    await provider.close();
    await server.close();
  }
}

function toScript({ steps }: WorkTurn): readonly {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly input: unknown }[];
}[] {
  return steps.map(({ text, tools }) => ({
    text,
    toolCalls: tools.map(({ name, input }) => ({ name, input })),
  }));
}

const rules =
  "You work on the project in this folder. Look before you change anything, change as little as you can, and say what you did in two sentences.";

const toolNames = ["list", "read", "grep", "edit", "write", "bash"] as const;

function toTool(name: string): ReturnType<typeof toToolDefinition> {
  return toToolDefinition({
    name,
    description: `The tool ${name}, for files of this project.`,
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        pattern: { type: "string" },
        command: { type: "string" },
      },
    },
  });
}
