// strata config show: the settings in effect, and their origins.
import { describeProblem } from "../../core/config/config-problem.ts";
import { originOf, type Setting } from "../../core/config/settings.ts";
import { nearestNames } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import { readConfigOnce } from "../../host/config/read-config-once.ts";
import type { CommandBody } from "../command.ts";
import { readConfigPlaces } from "./config-places.ts";
import { printResult, toPrintable, toShort } from "../ledger/render-ledger.ts";
import { renderTable, type Column } from "../table.ts";

export const run: CommandBody = async (input, io) => {
  const files = readConfigPlaces(input, io);
  const { settings, problems } = await readConfigOnce({ files, env: io.env });
  for (const warning of problems) {
    io.error(`strata: warning: ${toPrintable(describeProblem(warning))}\n`);
  }
  const [key] = input.operands;
  const chosen = key === undefined ? settings : choose(settings, key);
  return printResult(input, io, { value: chosen.map(describe), text: render(chosen, key) });
};

/** The setting with that path, or all settings below it. */
function choose(settings: readonly Setting[], key: string): readonly Setting[] {
  const chosen = settings.filter(({ path }) => path === key || path.startsWith(`${key}.`));
  if (chosen.length > 0) return chosen;
  const paths = settings.map(({ path }) => path);
  const ends = paths.filter((path) => path.endsWith(`.${key}`));
  const near = ends.length > 0 ? ends.slice(0, 3) : nearestNames(key.slice(0, 128), paths, 3);
  throw new StrataError(
    "not-found",
    `there is no setting ${JSON.stringify(toShort(key, 80))}`,
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : "strata config shows all of them",
  );
}

function describe(setting: Setting): unknown {
  const { path, value, origin, meaning } = setting;
  return { key: path, value, origin, from: originOf(setting), meaning };
}

function render(settings: readonly Setting[], key: string | undefined): string {
  return renderTable(key === undefined ? columns : [...columns, meaning], settings);
}

export const columns: readonly Column<Setting>[] = [
  { title: "setting", cell: ({ path }) => toPrintable(path) },
  { title: "value", cell: ({ value }) => showValue(value) },
  { title: "from", cell: (setting) => toPrintable(originOf(setting)) },
];

const meaning: Column<Setting> = { title: "meaning", cell: (setting) => setting.meaning };

function showValue(value: unknown): string {
  if (value === null) return "-";
  return toShort(typeof value === "string" ? value : JSON.stringify(value), 80);
}
