// strata doctor: checks this machine, and says how to fix problems.
import { accessSync, constants, statSync } from "node:fs";
import { styleText } from "node:util";
import { exitStatusOf, messageOf } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkLifetimes } from "./check-lifetimes.ts";
import { checkStrays } from "./check-strays.ts";
import { checkStore, nearestExisting, type Finding } from "./check-store.ts";
import { hang } from "../table.ts";
import { readDataDirectory } from "../../host/config/environment.ts";

export const run: CommandBody = async (input, io) => {
  const dataDirectory = readDataDirectory(io.env);
  const findings = [
    checkNode(process.versions.node),
    checkPlatform(process.platform, process.arch),
    checkDataDirectory(dataDirectory.value, dataDirectory.origin),
    await checkPart("sqlite", "node:sqlite", "use a Node build with SQLite"),
    await checkPart("tokenizer", "gpt-tokenizer/bpeRanks/o200k_base", "reinstall strata-context"),
    await checkOptionalPart("postgres driver", "pg", "npm install pg, to keep the ledger there"),
    await checkStore(io.env),
    ...(await checkAnswers(io.env)),
    ...(await checkLifetimes(io.env)),
    ...(await checkStrays(io.env, input.switches.has("delete-strays"))),
  ];
  const isFit = findings.every(({ state }) => state !== "failed");
  io.out(
    input.switches.has("json")
      ? `${JSON.stringify({ fit: isFit, findings })}\n`
      : renderFindings(findings, isFit),
  );
  return isFit ? 0 : exitStatusOf["environment-unfit"];
};

export function checkNode(version: string): Finding {
  const major = Number(version.split(".")[0]);
  return major >= 24
    ? { name: "node", state: "ok", detail: version }
    : { name: "node", state: "failed", detail: `${version}; install Node 24 or later` };
}

export function checkPlatform(platform: string, arch: string): Finding {
  const isTested = platform === "linux" || platform === "darwin";
  const detail = `${platform} ${arch}`;
  return isTested
    ? { name: "platform", state: "ok", detail }
    : { name: "platform", state: "absent", detail: `${detail}; not tested there` };
}

/** Creates nothing; a missing directory must be creatable. */
export function checkDataDirectory(directory: string, origin: string): Finding {
  const name = "data directory";
  try {
    const existing = nearestExisting(directory);
    if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a directory`);
    accessSync(existing, constants.W_OK | constants.X_OK);
    const state = existing === directory ? "" : ", created when first needed";
    return { name, state: "ok", detail: `${directory} (from ${origin}${state})` };
  } catch (error) {
    const reason = `cannot be written: ${messageOf(error)}; set STRATA_DATA_DIR`;
    return { name, state: "failed", detail: `${directory} (from ${origin}) ${reason}` };
  }
}

async function checkPart(name: string, module: string, advice: string): Promise<Finding> {
  const found = await checkOptionalPart(name, module, advice);
  return found.state === "ok" ? found : { ...found, state: "failed" };
}

async function checkOptionalPart(name: string, module: string, advice: string): Promise<Finding> {
  try {
    await import(module);
    return { name, state: "ok", detail: module };
  } catch {
    return { name, state: "absent", detail: `${module} is not installed; ${advice}` };
  }
}

function renderFindings(findings: readonly Finding[], isFit: boolean): string {
  const colours = { ok: "green", absent: "yellow", warning: "yellow", failed: "red" } as const;
  const width = Math.max(...findings.map(({ name }) => name.length));
  const markWidth = "warning".length;
  const lines = findings.flatMap(({ name, state, detail }) => {
    const mark = styleText(colours[state], state.padEnd(markWidth));
    return hang(`${mark}  ${name.padEnd(width)}  `, markWidth + width + 4, detail);
  });
  return `${[...lines, isFit ? "Strata can run here." : "Strata cannot run here yet."].join("\n")}\n`;
}
