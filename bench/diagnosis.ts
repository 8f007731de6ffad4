// Names breaks in live and in recorded sessions, and times lint on hostile text against prose.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { medianMsOf } from "../harness/measure.ts";
import { traceFolder } from "../harness/traces.ts";
import { atMost, type Experiment, type Report } from "../harness/report.ts";
import { lintRequest } from "../src/core/diagnosis/lint-request.ts";
import { plantLive, playClean } from "./diagnosis/live.ts";
import { plantInRecordings } from "./diagnosis/planted.ts";
import { explainHalves } from "./diagnosis/recorded.ts";
import { pathologicalInputs } from "./tokens/inputs.ts";

export const experiment: Experiment = {
  summary:
    "breaks planted in live sessions, lint on hostile text, and with --traces the causes of recorded and planted losses (DIR/sessions)",
  async run({ traces, progress }) {
    const folder = traces === undefined ? null : traceFolder(traces, "sessions");
    progress("linting 1 MB of prose and of each hostile input");
    const parts = [await timeLint()];
    progress("breaks planted in live sessions, through the engine and the middleware");
    parts.push(await plantLive(progress), await playClean(progress));
    if (folder !== null) {
      progress("recorded shortfalls, in halves by repository");
      parts.push(await explainHalves(folder));
      progress("evictions and hidden changes planted in recorded sessions");
      parts.push(await plantInRecordings(folder));
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
