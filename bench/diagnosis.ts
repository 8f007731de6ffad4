// Explains misses of recorded sessions, and times lint on hostile text against prose.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { medianMsOf } from "../harness/measure.ts";
import { traceFolder } from "../harness/traces.ts";
import { atMost, exactly, type Experiment, type Figure, type Report } from "../harness/report.ts";
import { lintRequest } from "../src/core/diagnosis/lint-request.ts";
import { findModel } from "../src/core/models/resolve-model.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { explainRecordings, type ExplainedCall } from "../src/replay/explain-recording.ts";
import { readRecordings } from "../src/replay/readers/read-recordings.ts";
import { pathologicalInputs } from "./tokens/inputs.ts";

export const experiment: Experiment = {
  summary:
    "lint on hostile text, and with --traces the cause of every recorded shortfall (DIR/sessions)",
  async run({ traces, progress }) {
    const folder = traces === undefined ? null : traceFolder(traces, "sessions");
    progress("linting 1 MB of prose and of each hostile input");
    const parts = [await timeLint()];
    if (folder !== null) {
      progress("recorded shortfalls");
      parts.push(await explainFolder(folder));
    }
    return {
      figures: Object.assign({}, ...parts.map(({ figures }) => figures)),
      checks: parts.flatMap(({ checks }) => checks),
    };
  },
};

type Part = Pick<Report, "figures" | "checks">;

const inputLength = 1_000_000;

async function timeLint(): Promise<Part> {
  const inputs = { prose: readProse(), ...pathologicalInputs() };
  const candidates = Object.entries(inputs).map(([name, text]) => {
    const body = toBody(text);
    return [name, () => lintRequest(body)] as const;
  });
  const ms = await medianMsOf(Object.fromEntries(candidates), { rounds: 9, warmups: 2 });
  const proseMs = ms["prose"] ?? Number.NaN;
  const hostile = Object.entries(ms).filter(([name]) => name !== "prose");
  const worst = Math.max(...hostile.map(([, each]) => each / proseMs));
  return {
    figures: Object.fromEntries(
      Object.entries(ms).map(([name, value]) => [`lint ${name}, ms per MB`, value]),
    ),
    checks: [atMost("lint time against prose, worst", worst, 3)],
  };
}

/** Our own documents, repeated to the needed length. */
function readProse(): string {
  const folder = new URL("../docs/", import.meta.url).pathname;
  const files = readdirSync(folder).filter((file) => file.endsWith(".md"));
  const text = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  return text.repeat(Math.ceil(inputLength / text.length)).slice(0, inputLength);
}

function toBody(text: string): string {
  return JSON.stringify({
    model: "claude-sonnet-4-6",
    max_tokens: 10,
    system: [{ type: "text", text, cache_control: { type: "ephemeral" } }],
    messages: [{ role: "user", content: "Hello" }],
  });
}

/** Smaller shortfalls are rounding errors. */
const shortfallTokensMin = 1024;

interface Tally {
  count: number;
  tokens: number;
}

async function explainFolder(folder: string): Promise<Part> {
  const counter = await loadO200k();
  const causes = new Map<string, Tally>();
  const total: Tally = { count: 0, tokens: 0 };
  const lost: Tally = { count: 0, tokens: 0 };
  const unpromised: Tally = { count: 0, tokens: 0 };
  const inferred: Tally = { count: 0, tokens: 0 };
  let calls = 0;
  let [unexplained, unsent] = [0, 0];
  for await (const call of explainRecordings(readRecordings([folder], { counter }))) {
    calls += 1;
    const { cause, lostTokens } = call.explanation;
    if (cause === "no miss" && call.shortfallTokens > shortfallTokensMin) unsent += 1;
    if (lostTokens <= shortfallTokensMin) continue;
    if (cause === "no miss" || cause === "first call") unexplained += 1;
    const tally = causes.get(cause) ?? { count: 0, tokens: 0 };
    causes.set(cause, tally);
    for (const each of [total, tally]) add(each, lostTokens);
    if (call.evidence === "inferred") add(inferred, lostTokens);
    if (cause !== "provider lost it") continue;
    add(lost, lostTokens);
    if (promisesNothing(call)) add(unpromised, lostTokens);
  }
  return {
    figures: {
      "recorded calls": calls,
      shortfalls: total.count,
      "lost tokens": total.tokens,
      "shortfalls of what was not sent again": unsent,
      ...shares(causes, total),
      "inferred from bills, count": inferred.count,
      "inferred from bills, share of lost tokens": inferred.tokens / total.tokens,
      "provider lost it where its rules say it may, share of lost tokens":
        unpromised.tokens / total.tokens,
    },
    checks: [
      exactly("shortfalls without any cause", unexplained, 0),
      // If the rules promise that a prefix is kept, "provider lost it" only means that no other cause was found.
      atMost(
        "unknown, share of lost tokens",
        (lost.tokens - unpromised.tokens) / total.tokens,
        0.1,
      ),
    ],
  };
}

function add(tally: Tally, tokens: number): void {
  tally.count += 1;
  tally.tokens += tokens;
}

/** Whether the provider's rules allow a repeated prefix to miss. */
function promisesNothing({ model }: ExplainedCall): boolean {
  return findModel(model)?.facts.cache.automatic?.bestEffort === true;
}

function shares(causes: ReadonlyMap<string, Tally>, total: Tally): Record<string, Figure> {
  const sorted = [...causes].toSorted(([, left], [, right]) => right.tokens - left.tokens);
  return Object.fromEntries(
    sorted.flatMap(([cause, { count, tokens }]) => [
      [`${cause}, count`, count],
      [`${cause}, share of lost tokens`, tokens / total.tokens],
    ]),
  );
}
