// Requests of other clients: the readers of all protocols, lint and explain.
import type { Random } from "../../../harness/random-message.ts";
import {
  renderExplanation,
  explanationToJson,
} from "../../../src/cli/explain/render-explanation.ts";
import { explainMiss } from "../../../src/core/diagnosis/explain-miss.ts";
import { lintRequest } from "../../../src/core/diagnosis/lint-request.ts";
import { noUsage } from "../../../src/core/message/usage.ts";
import { resolveModel } from "../../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../../src/core/tokens/cheap-counter.ts";
import { createTokenCounter } from "../../../src/core/tokens/token-counter.ts";
import { readRequest } from "../../../src/core/wire/foreign/read-request.ts";
import type { ForeignRequest } from "../../../src/core/wire/foreign/foreign-request.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import { keysIn, mutateJson, mutateText, oddJson, pick, type Json } from "../mutate.ts";
import { sampleProtocols } from "../samples.ts";

export function open(): OpenDoor {
  const samples = sampleProtocols.map(({ request }) => request);
  const known = keysIn(samples);
  return {
    attempt: (random) => {
      const sample = pick(random, samples);
      return random() < 0.6
        ? lint(makeBody(random, sample, known))
        : explain(random, makeBody(random, sample, known), makeBody(random, sample, known));
    },
  };
}

function makeBody(random: Random, sample: Json, known: readonly string[]): string {
  const kind = random();
  if (kind < 0.75) return mutateJson(random, sample, known);
  if (kind < 0.8) return JSON.stringify(sample);
  return kind < 0.95 ? mutateText(random, JSON.stringify(sample)) : oddJson(random, known);
}

function lint(body: string): Outcome {
  const findings = lintRequest(readRequest(body));
  const refusals = findings.map(({ rule, message, advice }) => ({
    code: rule,
    hint: `${message} ${advice}`,
  }));
  return { isAccepted: true, outputs: [JSON.stringify(findings)], refusals };
}

function explain(random: Random, before: string, now: string): Outcome {
  const named = random() < 0.5 ? "claude-sonnet-5-5" : readRequest(now).model;
  const { facts } = resolveModel(named);
  const counter = createTokenCounter(cheapCounter, facts.tokenizer);
  const read = (body: string): ForeignRequest => readRequest(body, { counter, facts });
  const usage = pick(random, [
    null,
    noUsage,
    { ...noUsage, cacheReadTokens: 1e12, uncachedTokens: 3 },
  ]);
  const explanation = explainMiss({
    previous: random() < 0.1 ? null : read(before),
    current: read(now),
    usage,
    rules: facts,
    timing: { gapMs: pick(random, [0, 1000, 400_000, 1e15]), startMs: Date.UTC(2026, 10, 17) },
  });
  const outputs = [
    renderExplanation(explanation, { isReported: usage !== null }),
    JSON.stringify(explanationToJson(explanation)),
  ];
  return { isAccepted: true, outputs };
}
