// The guide of `npm start`: typed messages, notes for the viewer, and the final summary.
import { styleText } from "node:util";
import type { PolicyName } from "../../src/core/cache/policy.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { formatUsdRounded } from "../../src/core/models/pico-usd.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { explainSavings } from "./explain-savings.ts";
import { runGuided, type GuidedSession, type GuideStep } from "./guided-session.ts";
import { createPacedOutput } from "./paced-output.ts";

export interface GuideSetup {
  readonly model: ModelFacts;
  readonly counter: TextCounter;
  readonly out: (text: string) => void;
  /** Whether a person watches; then output is slowed down. */
  readonly isWatched: boolean;
  readonly colours: boolean;
  readonly width: number;
}

const minuteMs = 60_000;

const steps: readonly GuideStep[] = [
  { afterMs: 0, line: "What is in this folder?" },
  { afterMs: 0, line: "/context" },
  { afterMs: 30 * minuteMs, aside: "Half an hour later:", line: "Where are the greetings?" },
  { afterMs: 180 * minuteMs, aside: "Three hours later:", line: "What is planned next?" },
  { afterMs: 0, line: "/cost" },
];

export async function runGuide(setup: GuideSetup): Promise<void> {
  const { model, isWatched } = setup;
  const paced = createPacedOutput(setup.out);
  const out = isWatched ? paced.write : setup.out;
  const note = (text: string): void =>
    out(`${setup.colours ? styleText("cyan", text, { validateStream: false }) : text}\n`);
  note(
    `strata chat with a guide at the keys. The model is simulated and billed as ${model.id}; no key, no network.`,
  );
  out("\n");
  const guided = await runUnder("adaptive", { ...setup, out }, { note, seen: paced.seen });
  out("\n");
  note("What caching saved, and why:");
  const none = await costUnder("none", setup);
  const tail = await costUnder("tail-5m", setup);
  const again = `with caching off the same session costs ${none}, with one 5m marker at its end ${tail}`;
  out(await explainSavings(guided, model, again));
  await guided.close();
  out(
    "\nTalk to it: npm run -s strata -- chat. Twelve turns under five policies: npm start -- longer.\nA day of agents in the dashboard: npm run -s strata -- serve --demo\n",
  );
  await paced.seen();
}

interface Watching {
  readonly note: (text: string) => void;
  readonly seen: () => Promise<void>;
}

function runUnder(
  policy: PolicyName,
  { model, counter, out, colours, width }: Omit<GuideSetup, "isWatched">,
  { note, seen }: Watching,
): Promise<GuidedSession> {
  return runGuided({
    model: model.id,
    policy,
    steps,
    counter,
    out,
    note,
    colours,
    width,
    seen,
  });
}

async function costUnder(policy: PolicyName, setup: GuideSetup): Promise<string> {
  const unwatched = { note: () => {}, seen: () => Promise.resolve() };
  const session = await runUnder(policy, { ...setup, out: () => {} }, unwatched);
  try {
    const record = await session.store.ledger.findSession(session.sessionId);
    return formatUsdRounded(record?.costPicoUsd ?? 0n);
  } finally {
    await session.close();
  }
}
