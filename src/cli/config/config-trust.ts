// strata config trust: trusts the present content of a configuration file that lies in the workspace.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { describeProblem, hasErrors } from "../../core/config/config-problem.ts";
import { readConfig } from "../../core/config/read-config.ts";
import type { Setting } from "../../core/config/settings.ts";
import { StrataError } from "../../core/strata-error.ts";
import { toTrusted } from "../../edge/config/find-config-files.ts";
import { readConfigFile } from "../../edge/config/read-config-file.ts";
import { hashConfig, trustContent } from "../../edge/config/trusted-files.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { canAsk, confirm } from "../confirm.ts";
import { printResult } from "../ledger/render-ledger.ts";
import { renderTable } from "../table.ts";
import { columns } from "./config-show.ts";

export const run: CommandBody = async (input, io) => {
  const path = resolve(fileOf(input, io));
  const { hash, settings } = await readValid(path);
  const given = input.values.get("trust");
  if (given !== undefined && given !== hash) {
    throw new StrataError(
      "conflict",
      `${path} has the hash ${hash}, not ${given}`,
      "look at the file again; nothing was changed",
    );
  }
  if (given === undefined) {
    if (!canAsk()) {
      throw new StrataError(
        "usage",
        `${path} has the hash ${hash}, and there is no terminal to ask on`,
        `look at the file, then add --trust ${hash}; nothing was changed`,
      );
    }
    io.error(`${renderTable(columns, settings)}\n`);
    if (!(await confirm(`Trust this content of ${path} (${hash})?`, false))) {
      io.error("Nothing was changed.\n");
      return 0;
    }
  }
  const workspace = resolve(input.values.get("workspace") ?? ".");
  const trusted = toTrusted(path, { env: io.env, workspace, homeFolder: homedir() });
  trustContent(trusted, hash);
  return printResult(input, io, {
    value: { path, hash, storedIn: trusted.storePath },
    text: `${path} is trusted with this content, ${hash}. A change has no effect until it is trusted too.\n`,
  });
};

function fileOf({ operands: [given], values }: CommandInput, { env }: Io): string {
  const file = given ?? values.get("config") ?? env["STRATA_CONFIG"] ?? "";
  if (file !== "") return file;
  throw new StrataError("usage", "no file is named", "name one, or set STRATA_CONFIG");
}

/** A file with errors would be trusted for nothing. */
async function readValid(
  path: string,
): Promise<{ readonly hash: string; readonly settings: readonly Setting[] }> {
  const reading = await readConfigFile({ path, isFound: false, isNamed: true });
  if (reading.kind !== "read") {
    throw new StrataError("not-found", `there is no file ${path}`, "name an existing file");
  }
  const { text, root, problems } = reading;
  if (text !== null && root !== null) {
    const { settings } = readConfig({ files: [root], homeFolder: homedir() });
    const written = settings.filter(({ origin }) => origin.kind === "file");
    return { hash: hashConfig(text), settings: written };
  }
  const problem = problems.find((each) => hasErrors([each]));
  const message = problem === undefined ? `${path} is not text` : describeProblem(problem);
  throw new StrataError("config-invalid", message, `fix it first: strata config check ${path}`);
}
