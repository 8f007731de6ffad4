// strata stats: one question to the ledger, as a table or as the envelope an API gives.
import { analyses, isAnalysis } from "../../analytics/analyses.ts";
import { analysisNames, type AnalysisName } from "../../analytics/analysis-names.ts";
import type { Analysis, AnalyticsQuery } from "../../analytics/analysis.ts";
import { analyticsCodeOf } from "../../analytics/analytics-error.ts";
import { askLedger, type Answer } from "../../analytics/ask-ledger.ts";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { readConfiguredCatalogue } from "../../host/config/catalogue.ts";
import { readCatalogue } from "../../host/config/read-catalogue.ts";
import { printResult, toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import { askServer } from "./ask-server.ts";
import { renderAnswer } from "./stats-render.ts";
import { createOnProblem, useFoundLedger } from "../use-ledger.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";

export const run: CommandBody = (input, io) => {
  const name = readName(input);
  const query = readQuery(input, name, analyses[name]);
  const url = input.values.get("url");
  const print = async (asked: Promise<Answer>): Promise<number> => {
    const answer = await asked.catch((error: unknown) => {
      if (input.switches.has("json")) tellRefusal(error, io);
      throw asTyped(error);
    });
    return printResult(input, io, { value: answer, text: renderAnswer(name, answer) });
  };
  if (url !== undefined) {
    refuseLocal(input);
    return print(askServer(url, name, query, io));
  }
  return useFoundLedger(input, io, async ({ database, ledger }) => {
    await keepUp(ledger, createOnProblem(io));
    const world = { nowMs: Date.now(), catalogue: await readPrices(input, io) };
    return print(askLedger(database, analyses[name], query, world));
  });
};

/** For the questions to come. An answer is exact without it, so a ledger that may only be read is no problem. */
async function keepUp(
  { catchUp }: Pick<Ledger, "catchUp">,
  onProblem: (problem: unknown) => void,
): Promise<void> {
  try {
    await catchUp({ budgetMs: keepUpMs });
  } catch (error) {
    onProblem(error);
  }
}

const keepUpMs = 500;

/** A server has its own ledger and prices. */
function refuseLocal({ values, switches }: CommandInput): void {
  const isGiven = (each: string): boolean => values.has(each) || switches.has(each);
  const other = ["store", "simulated", "models"].find(isGiven);
  if (other === undefined) return;
  throw usage(`--${other} is about a ledger here, and --url asks a server`, "give one of them");
}

/** From `--models`, else from the configuration. */
async function readPrices({ values }: CommandInput, { env, error }: Io): Promise<Catalogue> {
  const file = values.get("models");
  if (file !== undefined) return readCatalogue(file);
  const onProblem = (problem: string): void => error(`strata: warning: ${toPrintable(problem)}\n`);
  return readConfiguredCatalogue(env, onProblem);
}

/** Also accepts dashes, as in `cache-effectiveness`. */
function readName({ operands: [typed = ""] }: CommandInput): AnalysisName {
  const name = typed.replaceAll("-", "_");
  if (isAnalysis(name)) return name;
  const hint = didYouMean(name, analysisNames, `ask one of ${analysisNames.join(", ")}`, 2);
  throw usage(`there is no question "${typed}"`, hint);
}

const shared = ["from", "to", "order", "limit", "points"] as const;

function readQuery(
  { values }: CommandInput,
  name: AnalysisName,
  { takes = [] }: Analysis,
): AnalyticsQuery {
  for (const option of ["baseline", "turn"] as const) {
    if (values.has(option) && !takes.includes(option)) {
      const others = analysisNames.filter(
        (each) => analyses[each].takes?.includes(option) === true,
      );
      throw usage(`--${option} does not apply to ${name}`, `it is for ${others.join(", ")}`);
    }
  }
  const groupBy = values.get("group-by")?.replaceAll("-", "_");
  const typed = [...shared, ...takes].flatMap((option) => {
    const value = values.get(option);
    return value === undefined ? [] : [[option, value] as const];
  });
  return { ...Object.fromEntries(typed), ...(groupBy === undefined ? {} : { groupBy }) };
}

/** With --json, errors have the code that the API documents. */
function tellRefusal(error: unknown, { out }: Io): void {
  const code = analyticsCodeOf(error);
  if (code === null || !(error instanceof StrataError)) return;
  const { message, hint } = error;
  out(toJsonLine({ error: { code, message, hint } }));
}

/** Wrong input is a usage error; missing data is not. */
function asTyped(error: unknown): unknown {
  const isTyped = analyticsCodeOf(error)?.startsWith("invalid_") === true;
  return isTyped && error instanceof StrataError ? usage(error.message, error.hint, error) : error;
}

function usage(message: string, hint: string, cause?: unknown): StrataError {
  const about = cause === undefined ? {} : { cause };
  return new StrataError("usage", message, `${hint}; see: strata stats --help`, about);
}
