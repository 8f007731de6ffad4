// strata skills search: what an agent would find.
import { searchSkills } from "../../core/skills/search-skills.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine, toShort } from "../ledger/render-ledger.ts";
import { readSkills } from "./skills-places.ts";

export const run: CommandBody = async (input, io) => {
  const query = input.operands.join(" ");
  const limit = readLimit(input.values.get("limit"));
  const { snapshot } = await readSkills(input, io);
  const { matches, total, byWord, wordsLeftOut } = searchSkills(snapshot.skills, query, limit);
  if (input.switches.has("json")) {
    const results = matches.map(({ skill: { name, description, source, version }, score }) => {
      return { name, description, source, version, score };
    });
    io.out(toJsonLine({ query, total, byWord, wordsLeftOut, results }));
    return 0;
  }
  const lines = matches.map(
    ({ skill, score }) => `${skill.name}  (${score})  ${toShort(skill.description, 80)}`,
  );
  const head = byWord ? ["No skill matches the whole query; these match some words:"] : [];
  const rest = total - matches.length;
  const tail = [
    ...(rest === 0 ? [] : [`${rest} more; raise --limit`]),
    ...(wordsLeftOut === 0 ? [] : [`${wordsLeftOut} more words were ignored`]),
  ];
  io.out(total === 0 ? "No skill was found.\n" : `${[...head, ...lines, ...tail].join("\n")}\n`);
  return 0;
};

function readLimit(given: string | undefined): number {
  if (given === undefined) return 10;
  if (/^[1-9]\d{0,3}$/.test(given)) return Number(given);
  throw new StrataError(
    "usage",
    `--limit is ${given}, and not a whole number from 1`,
    "see: strata skills search --help",
  );
}
