// strata replay: what recorded sessions cost, what they could have cost, and which policy is best for them.
import { setFlagsFromString } from "node:v8";
import { findPolicy, listPolicies } from "../../core/cache/policies.ts";
import type { Policy } from "../../core/cache/policy.ts";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { GroupBy, ReplayOptions } from "../../replay/books.ts";
import type { CallDetail } from "../../replay/call-detail.ts";
import { replayFiles, type FilesOptions } from "../../replay/files/replay-files.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { ReplayedFile } from "../../dashboard/file/file-data.ts";
import { renderFile } from "../../dashboard/file/render-file.ts";
import { toReplayed } from "../../dashboard/file/to-replayed.ts";
import { replay } from "../../replay/replay.ts";
import type { CommandBody } from "../command.ts";
import { withRecordings, type GivenRecordings } from "../with-recordings.ts";
import { createProgress, type Progress } from "../progress.ts";
import { openPageFile, type PageFile } from "./page-file.ts";
import { renderReplay } from "./render-replay.ts";

export const run: CommandBody = async (input, io) => {
  // This allocates many short-lived objects, in two threads: the heap grows in small steps, which saves about 100 MB.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=100");
  const { values, switches } = input;
  const policies = readPolicies(values.get("policy") ?? "all");
  const groupBy = readGroupBy(values.get("group-by") ?? "none");
  const pagePath = values.get("html");
  const excerpts = switches.has("excerpts");
  if (excerpts && pagePath === undefined) throw excerptsWithoutPage();
  const isJson = switches.has("json");
  const jobs = readJobs(values.get("jobs"));
  const model = values.get("model") ?? null;
  const page = pagePath === undefined ? undefined : openPageFile(pagePath);
  const work = async (given: GivenRecordings): Promise<number> => {
    const { read, from, paths, catalogue, changes } = given;
    const details: CallDetail[] = [];
    const onCall = (call: CallDetail): void => void details.push(call);
    const progress = createProgress(io, "");
    const startedMs = performance.now();
    const asked = { policies, model, groupBy, ...(page === undefined ? {} : { onCall }) };
    const report =
      paths === null
        ? await replay(
            read(() => undefined),
            { ...asked, catalogue, onProgress: showSessions(progress) },
          )
        : await replayFiles(paths, {
            ...asked,
            ...(jobs === undefined ? {} : { jobs }),
            changes,
            excerpts,
            onProgress: showFiles(progress),
          });
    progress.end();
    checkFound(report, from);
    const seconds = (performance.now() - startedMs) / 1000;
    // The result is shown even if the page cannot be written any more.
    const failure =
      page === undefined
        ? null
        : await writePage(page, toReplayed(report, details, { catalogue, excerpts }));
    const shown = failure === null ? page?.path : undefined;
    if (isJson) io.out(`${JSON.stringify(report)}\n`);
    else io.out(renderReplay(report, { groupBy, seconds, page: shown, excerpts }));
    if (failure !== null) throw failure;
    isWritten = true;
    return 0;
  };
  let isWritten = false;
  try {
    return await withRecordings(input, io, excerpts, work);
  } finally {
    if (!isWritten) page?.discard();
  }
};

async function writePage(page: PageFile, file: ReplayedFile): Promise<Error | null> {
  try {
    page.write(await renderFile("Strata replay", file));
    return null;
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause));
  }
}

function showFiles(progress: Progress): NonNullable<FilesOptions["onProgress"]> {
  return (done, all) => {
    const files = `${done.files} of ${formatCount(all.files, "file")}`;
    progress.update(done.bytes, all.bytes, `${files}, ${formatCount(done.requests, "request")}`);
  };
}

/** How many sessions a ledger has is not known before they are read. */
function showSessions(progress: Progress): NonNullable<ReplayOptions["onProgress"]> {
  return ({ sessions, requests }) =>
    progress.tell(`${formatCount(sessions, "session")}, ${formatCount(requests, "request")}`);
}

const jobsMax = 64;

function readJobs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const jobs = Number(text);
  if (/^\d+$/.test(text) && jobs >= 1 && jobs <= jobsMax) return jobs;
  const hint = `give a whole number from 1 to ${jobsMax}`;
  throw new StrataError("usage", `--jobs cannot be "${text}"`, hint);
}

/** The printed report has only sums, so excerpts need the page. */
function excerptsWithoutPage(): StrataError {
  return new StrataError(
    "usage",
    "--excerpts is for the page, and there is no --html",
    "add --html FILE, or see them as text: strata explain PATH --excerpts",
  );
}

function readPolicies(text: string): readonly Policy[] {
  return text === "all" ? listPolicies() : text.split(",").map((name) => findPolicy(name.trim()));
}

const groupings: readonly GroupBy[] = ["session", "model", "agent", "day", "none"];

function readGroupBy(text: string): GroupBy {
  const found = groupings.find((each) => each === text);
  if (found !== undefined) return found;
  const hint = didYouMean(text, groupings, `choose one of ${groupings.join(", ")}`);
  throw new StrataError("usage", `--group-by cannot be "${text}"`, hint);
}

/** If nothing in a folder can be used, the path is probably wrong. */
function checkFound(report: Awaited<ReturnType<typeof replay>>, from: string): void {
  const { requests, automaticOnly, billedOnly } = report;
  if (requests > 0 || automaticOnly !== undefined || billedOnly !== undefined) return;
  const why = report.skipped.map(({ reason, count }) => `${reason} (${count})`).slice(0, 3);
  throw new StrataError(
    "not-found",
    `no request could be read from ${from}${why.length > 0 ? `: ${why.join("; ")}` : ""}`,
    "give transcripts, request logs, OpenTelemetry exports or exported sessions (docs/replay.md lists the formats), a folder of them, or --store",
  );
}
