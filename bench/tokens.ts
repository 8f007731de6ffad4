// Token counting: linear and exact on hostile input, close to the bill on recorded sessions.
import { countTokens as countUnguarded } from "gpt-tokenizer/encoding/o200k_base";
import { medianMsOf, quantile } from "../harness/measure.ts";
import { traceFolder } from "../harness/traces.ts";
import { atMost, type Check, type Experiment, type Figure } from "../harness/report.ts";
import { loadO200k, type TextCounter } from "../src/core/tokens/o200k/counter.ts";
import { type Accuracy, measureAccuracy } from "./tokens/accuracy.ts";
import { comparableInputs, pathologicalInputs, readCode } from "./tokens/inputs.ts";

interface Part {
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
}

export const experiment: Experiment = {
  summary: "counting tokens: hostile input against code, and with --traces estimates against bills",
  async run({ traces, progress }) {
    const folder = traces === undefined ? null : traceFolder(traces, "sessions");
    const start = performance.now();
    const counter = await loadO200k();
    const loadMs = performance.now() - start;
    const parts = [await speed(counter, progress), exactness(counter, progress)];
    if (folder === null) {
      parts.push({ figures: { "error of appended tokens": "needs --traces DIR" }, checks: [] });
    } else {
      parts.push(await accuracy(folder, counter, progress));
    }
    return {
      figures: Object.assign({ "load ms": loadMs }, ...parts.map((part) => part.figures)),
      checks: parts.flatMap((part) => part.checks),
    };
  },
};

async function speed(counter: TextCounter, progress: (line: string) => void): Promise<Part> {
  progress("timing 1 MB of code and of each hostile input");
  const code = readCode();
  const hostile = pathologicalInputs();
  const ms = await timeInputs({ code, ...hostile }, counter);
  const codeMs = ms["code"] ?? Number.NaN;
  return {
    figures: Object.fromEntries(
      Object.entries(ms).map(([name, value]) => [`${name}, ms per MB`, value]),
    ),
    checks: Object.keys(hostile).map((name) =>
      atMost(`${name}: time ratio to code`, (ms[name] ?? Number.NaN) / codeMs, 3),
    ),
  };
}

function exactness(counter: TextCounter, progress: (line: string) => void): Part {
  const inputs = comparableInputs();
  const checks = Object.entries(inputs).map(([name, text]) => {
    progress(`counting ${text.length} characters with the unguarded library: ${name}`);
    return atMost(`${name}: count error`, countError(text, counter), 0.005);
  });
  return {
    figures: Object.fromEntries(
      Object.entries(inputs).map(([name, text]) => [`${name}, compared characters`, text.length]),
    ),
    checks,
  };
}

async function accuracy(
  folder: string,
  counter: TextCounter,
  progress: (line: string) => void,
): Promise<Part> {
  const { results, skipped, sessions } = await measureAccuracy(folder, counter, progress);
  const claude = results.filter(({ family }) => family === "claude");
  const openai = results.filter(({ family }) => family === "openai");
  const tuned = claude.filter(({ isTuned }) => isTuned);
  const other = claude.filter(({ isTuned }) => !isTuned);
  return {
    figures: {
      sessions,
      "claude differences": claude.length,
      "openai differences": openai.length,
      "differences of other models": results.length - claude.length - openai.length,
      "claude differences with a hidden reminder": claude.length - shown(claude).length,
      "other half: claude differences": other.length,
      "other half: claude differences with a hidden reminder": other.length - shown(other).length,
      ...Object.fromEntries(
        Object.entries(skipped).map(([reason, count]) => [`skipped: ${reason}`, count]),
      ),
      ...spread("claude appended, cold, replies estimated too", claude, "contentOnly"),
      ...spread("openai appended, replies estimated too", openai, "contentOnly"),
      ...spread("claude anchored total", claude, "anchoredTotal"),
      ...spread("openai anchored total", openai, "anchoredTotal"),
      ...spread("tuned half, calibrated", shown(tuned), "calibrated"),
      ...spread("tuned half, cold", shown(tuned), "cold"),
      ...spread("other half, cold", shown(other), "cold"),
      ...spread("other half, hidden reminders included, cold", other, "cold"),
      ...spread("other half, hidden reminders included, calibrated", other, "calibrated"),
    },
    checks: [
      atMost("claude appended median, cold", at(claude, "cold", 0.5), 0.06),
      atMost("claude appended p90, cold", at(claude, "cold", 0.9), 0.25),
      atMost("claude appended median, calibrated", at(claude, "calibrated", 0.5), 0.05),
      atMost("claude appended p90, calibrated", at(claude, "calibrated", 0.9), 0.22),
      atMost("openai appended median", at(openai, "calibrated", 0.5), 0.01),
      atMost("openai appended p90", at(openai, "calibrated", 0.9), 0.06),
      ...halves(claude),
    ],
  };
}

/** Only what the recording shows. What an agent sends beside it cannot be estimated from it. */
function shown(results: readonly Accuracy[]): readonly Accuracy[] {
  return results.filter(({ isHidden }) => !isHidden);
}

/** By repository: the weights are fitted to the tuned half. Traces of one repository have no other half. */
function halves(claude: readonly Accuracy[]): readonly Check[] {
  const tuned = shown(claude).filter(({ isTuned }) => isTuned);
  const other = shown(claude).filter(({ isTuned }) => !isTuned);
  const checks = [atMost("calibrated minus cold, tuned half", harm(tuned), 0.002)];
  if (other.length === 0) return checks;
  return [
    atMost("appended tokens, other half: median", at(other, "calibrated", 0.5), 0.04),
    atMost("appended tokens, other half: p90", at(other, "calibrated", 0.9), 0.2),
    ...checks,
    atMost("calibrated minus cold, other half", harm(other), 0.002),
  ];
}

/** By how much calibration makes the median or the p90 worse; negative if it helps both. */
function harm(results: readonly Accuracy[]): number {
  const worse = [0.5, 0.9].map(
    (share) => at(results, "calibrated", share) - at(results, "cold", share),
  );
  return Math.max(...worse);
}

type Measure = "cold" | "contentOnly" | "calibrated" | "anchoredTotal";

function at(results: readonly Accuracy[], measure: Measure, share: number): number {
  return quantile(
    results.map((result) => result[measure]),
    share,
  );
}

function spread(
  name: string,
  results: readonly Accuracy[],
  measure: Measure,
): Record<string, number> {
  return {
    [`${name}: median`]: at(results, measure, 0.5),
    [`${name}: p90`]: at(results, measure, 0.9),
  };
}

/** Milliseconds per input, medians of interleaved rounds. */
function timeInputs(
  inputs: Readonly<Record<string, string>>,
  counter: TextCounter,
): Promise<Readonly<Record<string, number>>> {
  const candidates = Object.fromEntries(
    Object.entries(inputs).map(([name, text]) => [name, () => counter.count(text)]),
  );
  return medianMsOf(candidates, { rounds: 15, warmups: 2 });
}

/** |ours - library's| / library's. Both treat special tokens as text. */
function countError(text: string, counter: TextCounter): number {
  const unguarded = countUnguarded(text, { disallowedSpecial: new Set() });
  return Math.abs(counter.count(text) - unguarded) / unguarded;
}
