// strata lint: the parts of a request that will break caching.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { styleText } from "node:util";
import type { LintFinding } from "../core/diagnosis/lint-finding.ts";
import { lintRequest } from "../core/diagnosis/lint-request.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import { messageOf, StrataError } from "../core/strata-error.ts";
import type { CommandBody } from "./command.ts";

interface Linted {
  readonly file: string;
  /** In a file with one body per line; null if the file is one body. */
  readonly line: number | null;
  readonly findings: readonly LintFinding[];
}

interface Skipped extends Omit<Linted, "findings"> {
  readonly reason: string;
}

export const run: CommandBody = async (input, io) => {
  const [target = ""] = input.operands;
  const linted: Linted[] = [];
  const skipped: Skipped[] = [];
  const named = input.values.get("model");
  const facts = named === undefined ? undefined : resolveModel(named).facts;
  const isFolder = target !== "-" && isDirectory(target);
  for (const file of isFolder ? bodiesIn(target) : [target]) {
    const body = file === "-" ? await readAll(process.stdin) : readFileSync(file, "utf8");
    lintFile(file, body, { linted, skipped, facts });
  }
  const [failed] = skipped;
  if (failed !== undefined && !isFolder && linted.length === 0) throw unreadable(failed);
  const errors = linted.reduce((sum, { findings }) => sum + countErrors(findings), 0);
  io.out(
    input.switches.has("json")
      ? `${JSON.stringify({ requests: linted, skipped, errors }, undefined, 2)}\n`
      : render(linted, skipped),
  );
  return errors === 0 ? 0 : 1;
};

function isDirectory(target: string): boolean {
  try {
    return statSync(target).isDirectory();
  } catch (cause) {
    throw new StrataError(
      "input-invalid",
      `${target} cannot be read: ${messageOf(cause)}`,
      "name a request body, a folder of them, or - for standard input",
      { cause },
    );
  }
}

function bodiesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.jsonl?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

interface Outcome {
  readonly linted: Linted[];
  readonly skipped: Skipped[];
  /** Those of the model that was named; undefined for the one in each body. */
  readonly facts: ModelFacts | undefined;
}

/** Whatever is not a request is reported and counted. */
function lintFile(file: string, body: string, { linted, skipped, facts }: Outcome): void {
  const lines = file.endsWith(".jsonl") ? body.split("\n") : null;
  const bodies = (lines ?? [body]).map((each, index) => ({
    body: each,
    line: lines === null ? null : index + 1,
  }));
  for (const each of bodies) {
    if (each.line !== null && each.body.trim() === "") continue;
    try {
      linted.push({ file, line: each.line, findings: lintRequest(each.body, facts) });
    } catch (error) {
      if (!(error instanceof StrataError)) throw error;
      skipped.push({ file, line: each.line, reason: error.message });
    }
  }
}

function unreadable({ file, reason }: Skipped): StrataError {
  const hint = 'give the body of a request: JSON with "messages" or "input"';
  return new StrataError("input-invalid", `${file}: ${reason}`, hint);
}

function countErrors(findings: readonly LintFinding[]): number {
  return findings.filter(({ severity }) => severity === "error").length;
}

const colours = { error: "red", warning: "yellow", info: "dim" } as const;

function render(linted: readonly Linted[], skipped: readonly Skipped[]): string {
  const found = linted.flatMap(({ findings }) => findings);
  const lines = linted
    .filter(({ findings }) => findings.length > 0)
    .flatMap((each) => [styleText("bold", placeOf(each)), ...each.findings.flatMap(renderFinding)]);
  const missed = skipped.map((each) => `${placeOf(each)}  skipped: ${each.reason}`);
  const count = (severity: LintFinding["severity"]): number =>
    found.filter((each) => each.severity === severity).length;
  const summary = `${plural(linted.length, "request")}: ${plural(count("error"), "error")}, ${plural(count("warning"), "warning")}, ${count("info")} to look at${skipped.length === 0 ? "" : `; ${skipped.length} skipped`}`;
  return `${[...lines, ...missed, summary].join("\n")}\n`;
}

function renderFinding({ rule, severity, path, message, advice }: LintFinding): readonly string[] {
  const where = path === "" ? "" : `${path}: `;
  const mark = styleText(colours[severity], severity.padEnd("warning".length));
  return [`  ${mark}  ${where}${message} [${rule}]`, `           ${advice}`];
}

function placeOf({ file, line }: Pick<Linted, "file" | "line">): string {
  return line === null ? file : `${file}:${line}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
