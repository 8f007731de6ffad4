// strata config path: the files a configuration is read from, and what each may set.
import type { CommandBody } from "../command.ts";
import { describePlace, readConfigPlaces, withIncluded, type PlaceState } from "./config-places.ts";
import { printResult, toPrintable } from "../ledger/render-ledger.ts";
import { renderTable, type Column } from "../table.ts";

export const run: CommandBody = async (input, io) => {
  const places = await Promise.all(
    (await withIncluded(readConfigPlaces(input, io))).map(describePlace),
  );
  return printResult(input, io, {
    value: places.map((place) => ({ ...place, isThere: place.state !== "missing" })),
    text: `${renderTable(columns, places)}\nA later file wins, setting by setting; variables win over files. strata config check lists what is wrong with a refused file.\n`,
  });
};

const columns: readonly Column<PlaceState>[] = [
  { title: "file", cell: ({ path }) => toPrintable(path) },
  { title: "state", cell: ({ state }) => state },
  { title: "why", cell: ({ reason }) => reason },
  { title: "may set", cell: ({ rights }) => rights },
];
