// Compactions of recorded sessions: identifiers kept for later, results of search, and cost.
import { UsageError, type Experiment, type Report } from "../harness/report.ts";
import { traceFolder } from "../harness/traces.ts";
import { costPart } from "./compaction/cost.ts";
import { recallPart } from "./compaction/recall.ts";
import { searchPart } from "./compaction/search.ts";

type Part = Pick<Report, "figures" | "checks">;
type Measure = (folder: string, progress: (line: string) => void) => Promise<Part>;

const measures: Readonly<Record<string, Measure>> = {
  recall: recallPart,
  search: searchPart,
  cost: costPart,
};

export const experiment: Experiment = {
  summary: "what a compaction keeps of recorded sessions, and what it costs (needs --traces DIR)",
  options: { part: `one of ${Object.keys(measures).join(", ")}; all by default` },
  async run({ traces, options, progress }) {
    const folder = traceFolder(traces, "sessions");
    const { part } = options;
    if (part !== undefined && measures[part] === undefined) {
      throw new UsageError(`--part must be one of ${Object.keys(measures).join(", ")}`);
    }
    const parts: Part[] = [];
    for (const [name, measure] of Object.entries(measures)) {
      if (part !== undefined && part !== name) continue;
      progress(name);
      parts.push(await measure(folder, progress));
    }
    return {
      figures: Object.assign({}, ...parts.map(({ figures }) => figures)),
      checks: parts.flatMap(({ checks }) => checks),
    };
  },
};
