// Part of npm run check: no code outside core/wire asks which protocol it has.
import { globSync, readFileSync } from "node:fs";
import { protocols } from "../src/core/wire/protocols.ts";
import { exceptions, findProtocolNames, isSearched } from "./check/find-protocol-names.ts";

const names = protocols.map(({ name }) => name);
const found = globSync("src/**/*.ts")
  .filter((file) => isSearched(file) && !(file in exceptions))
  .flatMap((file) => findProtocolNames(file, readFileSync(file, "utf8"), names));
for (const { file, line, what } of found) {
  console.error(`${file}:${line}: asks for ${what}; ask the protocol for a property it declares`);
}
if (found.length > 0) process.exitCode = 1;
