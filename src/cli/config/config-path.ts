// strata config path: where a configuration is looked for.
import { existsSync } from "node:fs";
import type { ConfigPlace } from "../../edge/config/find-config-files.ts";
import type { CommandBody } from "../command.ts";
import { readConfigPlaces } from "./config-places.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import { renderTable, type Column } from "../table.ts";

interface LookedAt extends ConfigPlace {
  readonly isThere: boolean;
}

export const run: CommandBody = (input, io) => {
  const places = readConfigPlaces(input, io).map((place) => ({
    ...place,
    isThere: existsSync(place.path),
  }));
  io.out(
    input.switches.has("json")
      ? toJsonLine(places.map(({ path, reason, isThere }) => ({ path, reason, isThere })))
      : `${renderTable(columns, places)}\nA later file wins, setting by setting; variables win over files.\n`,
  );
  return Promise.resolve(0);
};

const columns: readonly Column<LookedAt>[] = [
  { title: "file", cell: ({ path }) => toPrintable(path) },
  { title: "state", cell: ({ isThere }) => (isThere ? "read" : "missing") },
  { title: "why", cell: ({ reason }) => reason },
];
