// The GenAI metrics: of calls, turns and tools.
import type { Attributes, Counter, Histogram, Meter, MeterProvider } from "@opentelemetry/api";
import { durationBuckets, genAi, tokenBuckets } from "./gen-ai-names.ts";
import { toLabels, type BilledTokens, type Inference } from "./inference.ts";

export interface Meters {
  countInference(inference: Inference): void;
  countTurn(turn: EndedTurn, labels: Attributes): void;
  countTool(seconds: number, labels: Attributes): void;
}

export interface EndedTurn {
  readonly seconds: number;
  readonly callCount: number;
  readonly toolCount: number;
}

export function createMeters(provider: MeterProvider, version: string): Meters {
  const meter = provider.getMeter("strata-context", version);
  return { ...createCallMeters(meter), ...createTurnMeters(meter) };
}

function createCallMeters(meter: Meter): Pick<Meters, "countInference"> {
  const counter = (kind: string, description: string): Counter =>
    meter.createCounter(`gen_ai.client.inference.usage.${kind}`, { unit: "{token}", description });
  const duration = createHistogram(
    meter,
    "gen_ai.client.inference.duration",
    "s",
    "Duration of a call",
  );
  const firstChunk = createHistogram(
    meter,
    "gen_ai.client.inference.time_to_first_chunk",
    "s",
    "Time from a call to the beginning of its answer",
  );
  const operationInput = createHistogram(
    meter,
    "gen_ai.client.inference.operation.input_tokens",
    "{token}",
    "Prompt tokens of a call",
  );
  const operationOutput = createHistogram(
    meter,
    "gen_ai.client.inference.operation.output_tokens",
    "{token}",
    "Generated tokens of a call",
  );
  const totals: readonly (readonly [keyof BilledTokens, Counter])[] = [
    ["input", counter("input_tokens", "Billed prompt tokens, with those of a cache")],
    ["output", counter("output_tokens", "Billed generated tokens, with reasoning")],
    ["cacheRead", counter("cache_read.input_tokens", "Prompt tokens read from a cache")],
    ["cacheWrite", counter("cache_write.input_tokens", "Prompt tokens written to a cache")],
    ["reasoning", counter("reasoning.output_tokens", "Generated tokens spent on reasoning")],
  ];
  return {
    countInference: (inference) => {
      const { startMs, endMs, firstChunkMs, usage } = inference;
      const labels = toLabels(inference);
      duration.record(Math.max(0, endMs - startMs) / 1000, labels);
      if (firstChunkMs !== null) {
        firstChunk.record(Math.max(0, firstChunkMs - startMs) / 1000, labels);
      }
      const billed = { ...labels, [genAi.modality]: "unknown" };
      for (const [kind, total] of totals) {
        // A failed call is there with nothing.
        const tokens = usage === null ? 0 : usage[kind];
        if (tokens !== null) total.add(tokens, billed);
      }
      if (usage === null) return;
      operationInput.record(usage.input, labels);
      operationOutput.record(usage.output, labels);
    },
  };
}

function createTurnMeters(meter: Meter): Pick<Meters, "countTurn" | "countTool"> {
  const turn = createHistogram(meter, "gen_ai.invoke_agent.duration", "s", "Duration of a turn");
  const turnCalls = meter.createHistogram("gen_ai.invoke_agent.inference_calls", {
    description: "Calls to models in a turn",
    advice: { explicitBucketBoundaries: [...countBuckets] },
  });
  const turnTools = meter.createHistogram("gen_ai.invoke_agent.tool_calls", {
    description: "Tool uses in a turn",
    advice: { explicitBucketBoundaries: [...countBuckets] },
  });
  const tool = createHistogram(
    meter,
    "gen_ai.execute_tool.duration",
    "s",
    "Duration of a tool use",
  );
  return {
    countTurn: ({ seconds, callCount, toolCount }, labels) => {
      turn.record(seconds, labels);
      turnCalls.record(callCount, labels);
      turnTools.record(toolCount, labels);
    },
    countTool: (seconds, labels) => tool.record(seconds, labels),
  };
}

function createHistogram(
  meter: Meter,
  name: string,
  unit: "s" | "{token}",
  description: string,
): Histogram {
  const buckets = unit === "s" ? durationBuckets : tokenBuckets;
  return meter.createHistogram(name, {
    unit,
    description,
    advice: { explicitBucketBoundaries: [...buckets] },
  });
}

const countBuckets: readonly number[] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
