// Random request streams: the simulator's billing and the naive one agree on every bucket, step by step.
import { compareClouds } from "../harness/naive/compare-clouds.ts";
import { compareStreams, randomOptions } from "../harness/naive/compare-billing.ts";
import { exactly, type Experiment } from "../harness/report.ts";

// Short streams keep the naive log small; it is read in full at every step.
const requestsPerStream = 40;

/** A body is read, rendered and counted, which takes as long as many steps. */
const stepsPerBody = 200;

export const experiment: Experiment = {
  summary: "the simulator bills random request streams as a naive second reading of the rules does",
  options: { count: "how many steps, 1000000 by default", seed: "where to start, 1 by default" },
  async run({ options, progress }) {
    const count = Number(options["count"] ?? 1_000_000);
    const seed = Number(options["seed"] ?? 1);
    const streams = Math.ceil(count / requestsPerStream);
    const { steps, hits, disagreements, shortestLog } = compareStreams({
      seed,
      streams,
      requests: requestsPerStream,
      optionsOf: (random) => (random() < 0.5 ? {} : randomOptions(random)),
      keeps: (stream) => stream % 3 === 2,
      onStream(done, found) {
        if (done % 1000 !== 0) return;
        progress(`${done * requestsPerStream} of ${count}, ${found} disagreements`);
      },
    });
    if (shortestLog !== null) progress(shortestLog);
    const clouds = await compareManyClouds(seed, Math.ceil(count / stepsPerBody), progress);
    return {
      figures: { steps, streams, seed, "share of hits": hits / steps, bodies: clouds.steps },
      checks: [
        exactly("steps that disagree", disagreements, 0),
        exactly("bodies of clouds that disagree", clouds.disagreements, 0),
      ],
    };
  },
};

async function compareManyClouds(
  seed: number,
  bodies: number,
  progress: (line: string) => void,
): Promise<{ readonly steps: number; readonly disagreements: number }> {
  let [steps, disagreements] = [0, 0];
  for (let round = 0; steps < bodies; round += 1) {
    const compared = await compareClouds({ seed: seed + round, requests: requestsPerStream });
    steps += compared.steps;
    if (compared.difference === null) continue;
    disagreements += 1;
    progress(compared.difference);
  }
  return { steps, disagreements };
}
