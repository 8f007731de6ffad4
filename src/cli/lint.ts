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
import { hang } from "./table.ts";

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
    const body = await readBody(file);
    if (typeof body === "string") lintFile(file, body, { linted, skipped, facts });
    else if (isFolder) skipped.push({ file, line: null, reason: onLine(body.message) });
    else throw body;
  }
  if (isFolder && linted.length + skipped.length === 0) throw nothingIn(target);
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
    throw cannotRead(target, cause);
  }
}

function cannotRead(target: string, cause: unknown): StrataError {
  return new StrataError(
    "input-invalid",
    `${target} cannot be read: ${messageOf(cause)}`,
    "name a request body, a folder of them, or - for standard input",
    { cause },
  );
}

function nothingIn(folder: string): StrataError {
  return new StrataError(
    "input-invalid",
    `${folder} holds no request bodies: no file in it ends with .json or .jsonl`,
    "name a request body, a folder of them, or - for standard input",
  );
}

async function readBody(file: string): Promise<string | StrataError> {
  if (file === "-") return readAll(process.stdin);
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    return cannotRead(file, cause);
  }
}

/** The bodies below a folder, in order; a folder in it that cannot be read is one of them, and is reported as such. */
function bodiesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return /\.jsonl?$/.test(entry.name) ? [path] : [];
      try {
        return bodiesIn(path);
      } catch {
        return [path];
      }
    });
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
      skipped.push({ file, line: each.line, reason: onLine(error.message) });
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

/** One line per file and reason, however many requests it holds. */
function render(linted: readonly Linted[], skipped: readonly Skipped[]): string {
  const found = linted.flatMap(({ findings }) => findings);
  const byFile = Map.groupBy(linted, ({ file }) => file);
  const lines = [...byFile].flatMap(([file, each]) => renderFile(file, each));
  const missed = [...Map.groupBy(skipped, ({ file, reason }) => `${file}\n${reason}`).values()];
  const count = (severity: LintFinding["severity"]): number =>
    found.filter((each) => each.severity === severity).length;
  const summary = `${plural(linted.length, "request")}: ${plural(count("error"), "error")}, ${plural(count("warning"), "warning")}, ${count("info")} to look at${skipped.length === 0 ? "" : `; ${skipped.length} skipped`}`;
  return `${[...lines, ...missed.map(renderSkipped), summary].join("\n")}\n`;
}

interface Found extends LintFinding {
  readonly line: number | null;
}

function renderFile(file: string, linted: readonly Linted[]): readonly string[] {
  const found = linted.flatMap(({ line, findings }) => findings.map((each) => ({ ...each, line })));
  if (found.length === 0) return [];
  const alike = Map.groupBy(found, ({ rule, severity, advice }) => [rule, severity, advice].join());
  return [styleText("bold", file), ...[...alike.values()].flatMap(renderFindings)];
}

/** Findings of one kind; the first one stands for all. */
function renderFindings(found: readonly Found[]): readonly string[] {
  const [first] = found;
  if (first === undefined) return [];
  const { rule, severity, path, message, advice } = first;
  const where = path === "" ? "" : `${path}: `;
  const mark = styleText(colours[severity], severity.padEnd("warning".length));
  const lines = placesOf(found);
  const more = found.length === 1 ? "" : `, ${found.length} times`;
  return [
    `  ${mark}  ${lines}${where}${message} [${rule}]${more}`,
    ...hang("           ", 11, advice),
  ];
}

function renderSkipped(alike: readonly Skipped[]): string {
  const [first] = alike;
  return first === undefined ? "" : `${first.file}  ${placesOf(alike)}skipped: ${first.reason}`;
}

const placesShown = 5;

/** The lines of a file, as `lines 2, 3 and 40 more: `. */
function placesOf(alike: readonly { readonly line: number | null }[]): string {
  const lines = [...new Set(alike.flatMap(({ line }) => line ?? []))];
  if (lines.length === 0) return "";
  const shown = lines.slice(0, placesShown).join(", ");
  const more = lines.length > placesShown ? ` and ${lines.length - placesShown} more` : "";
  return `line${lines.length === 1 ? "" : "s"} ${shown}${more}: `;
}

function onLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
