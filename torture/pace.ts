// Sessions whose gaps and edits an adversary picks: how far above the best simple policy the planner can be driven.
import { createRandom } from "../harness/random-message.ts";
import { atMost, wholeNumber, type Experiment } from "../harness/report.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import { hashContent } from "../src/core/hash.ts";
import { noUsage, promptTokens } from "../src/core/message/usage.ts";
import type { ModelFacts } from "../src/core/models/model-facts.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import type { TimedRequest } from "../src/replay/policy-run.ts";
import { replayWorkspace } from "../src/replay/replay-workspace.ts";
import { costOf } from "../src/replay/tally.ts";
import { playAdversary, type HostileCall } from "./pace/adversary.ts";

const simple = ["tail-5m", "tail-1h", "hermes", "none"];
const policies = ["adaptive", ...simple].map((name) => findPolicy(name));

export const experiment: Experiment = {
  summary: "an adversary picks gaps and edits; the planner's excess over the best simple policy",
  options: {
    sessions: "how many sessions, 1000 by default",
    seed: "where to start, 1 by default",
  },
  run(settings) {
    const sessions = wholeNumber(settings, "sessions", 1000);
    const seed = wholeNumber(settings, "seed", 1);
    const { facts } = resolveModel("claude-sonnet-4-6");
    let [worstWrites, worstRatio] = [worstNone, worstNone];
    let [ours, best, calls] = [0, 0, 0];
    for (let index = 0; index < sessions; index += 1) {
      const ownSeed = seed + index * seedStep;
      const played = playAdversary(createRandom(ownSeed), facts);
      const bill = billSession(played, facts);
      calls += played.length;
      ours += bill.oursUsd;
      best += bill.bestUsd;
      const writes = (bill.oursUsd - bill.bestUsd) / bill.writeUsd;
      const ratio = bill.oursUsd / bill.bestUsd;
      if (writes > worstWrites.value) worstWrites = { value: writes, seed: ownSeed };
      if (ratio > worstRatio.value) worstRatio = { value: ratio, seed: ownSeed };
      if ((index + 1) % 100 === 0) settings.progress(`${index + 1} of ${sessions} sessions`);
    }
    return Promise.resolve({
      figures: {
        sessions,
        calls,
        seed,
        "all sessions against the best simple of each": ours / best,
        "seed of the worst excess": `${worstWrites.seed}`,
        "seed of the worst ratio": `${worstRatio.seed}`,
      },
      checks: [
        atMost("worst excess in writes", worstWrites.value, 4),
        atMost("worst ratio to best simple", worstRatio.value, 2.2),
      ],
    });
  },
};

const seedStep = 7919;
const worstNone = { value: -Infinity, seed: 0 };

interface SessionBill {
  readonly oursUsd: number;
  readonly bestUsd: number;
  /** One 5-minute write of the largest prompt. */
  readonly writeUsd: number;
}

/** By the simulator, for every policy. */
function billSession(calls: readonly HostileCall[], model: ModelFacts): SessionBill {
  const sums = policies.map(() => 0);
  let writeUsd = 0;
  const usd = (usage: typeof noUsage, startMs: number): number =>
    Number(costOf(usage, model, startMs)) / 1e12;
  for (const { timed, outcomes } of replayWorkspace("", calls.map(toRequest(model)), policies)) {
    for (const [index, { usage }] of outcomes.entries()) {
      sums[index] = (sums[index] ?? 0) + usd(usage, timed.startMs);
    }
    const tokens = promptTokens(outcomes[0]?.usage ?? noUsage);
    const whole = { ...noUsage, cacheWriteTokens: { "5m": tokens } };
    writeUsd = Math.max(writeUsd, usd(whole, timed.startMs));
  }
  const [oursUsd = NaN, ...others] = sums;
  return { oursUsd, bestUsd: Math.min(...others), writeUsd };
}

function toRequest(model: ModelFacts): (call: HostileCall) => TimedRequest {
  return ({ startMs, keep, added }) => ({
    startMs,
    model,
    isMain: true,
    request: {
      thread: "",
      startMs,
      endMs: startMs,
      model: model.id,
      keep,
      append: added.map(({ content, tier, ...block }) => ({
        ...block,
        hash: hashContent(content),
        tier: tier === "T1" ? "T1" : "T3",
      })),
      remainderTokens: 0,
      usage: null,
      markers: null,
      settings: {},
    },
  });
}
