// strata doctor: is this machine fit, and what to do where it is not.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { styleText } from "node:util";
import { exitStatusOf } from "../core/strata-error.ts";
import type { CommandBody, Io } from "./command.ts";
import { readConfig } from "./read-config.ts";

export interface Finding {
  readonly name: string;
  /** `absent` is for optional parts: nothing is wrong, some commands are not available. */
  readonly state: "ok" | "absent" | "failed";
  readonly detail: string;
}

export const run: CommandBody = async (input, io) => {
  const { dataDirectory } = readConfig(io.env);
  const findings = [
    checkNode(process.versions.node),
    checkPlatform(process.platform, process.arch),
    await checkDataDirectory(dataDirectory.value, dataDirectory.origin),
    await checkPart("sqlite", "node:sqlite", "use a Node build with SQLite"),
    await checkPart("tokenizer", "gpt-tokenizer/bpeRanks/o200k_base", "reinstall strata-context"),
    await checkOptionalPart("postgres driver", "pg", "npm install pg, to keep the ledger there"),
  ];
  const isFit = findings.every(({ state }) => state !== "failed");
  io.out(
    input.switches.has("json")
      ? `${JSON.stringify({ fit: isFit, findings })}\n`
      : renderFindings(findings, isFit, io),
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

export async function checkDataDirectory(directory: string, origin: string): Promise<Finding> {
  const name = "data directory";
  const probe = join(directory, `.probe-${process.pid}`);
  try {
    await mkdir(directory, { recursive: true });
    await writeFile(probe, "");
    await rm(probe);
    return { name, state: "ok", detail: `${directory} (${origin})` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      name,
      state: "failed",
      detail: `${directory} (${origin}) is not writable: ${reason}; set STRATA_DATA_DIR`,
    };
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

function renderFindings(findings: readonly Finding[], isFit: boolean, io: Io): string {
  const colours = { ok: "green", absent: "yellow", failed: "red" } as const;
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ name, state, detail }) => {
    const mark = state.padEnd("absent".length);
    const shown = io.isTerminal ? styleText(colours[state], mark) : mark;
    return `${shown}  ${name.padEnd(width)}  ${detail}`;
  });
  return `${[...lines, isFit ? "Strata can run here." : "Strata cannot run here yet."].join("\n")}\n`;
}
