// strata skills check: skills against the rules of the format, as CI would ask.
import { join, resolve } from "node:path";
import { styleText } from "node:util";
import { didYouMean } from "../../core/nearest-names.ts";
import {
  isSkillRule,
  skillRules,
  type SkillRule,
  type SkillViolation,
  type SkillWarning,
} from "../../core/skills/skill-rules.ts";
import { StrataError } from "../../core/strata-error.ts";
import { openScope } from "../../edge/files/guard/scoped-files.ts";
import { findSkills, type FoundSkill } from "../../edge/files/skills/find-skills.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import { checkFolder } from "../check-folder.ts";

interface CheckedSkill {
  readonly path: string;
  readonly ok: boolean;
  readonly violations: readonly SkillViolation[];
  readonly warnings: readonly SkillWarning[];
}

export const run: CommandBody = async (input, io) => {
  const [folder = ""] = input.operands;
  const ignored = readIgnored(input.values.get("ignore"));
  checkFolder(resolve(folder));
  const { found, skipped } = await findSkills(await openScope(resolve(folder)));
  if (found.length === 0) throw noSkills(folder, skipped.length);
  const isStrict = input.switches.has("strict");
  const checked = found.map((each) => check(each, folder, { ignored, isStrict }));
  const invalid = checked.filter(({ ok }) => !ok).length;
  if (input.switches.has("json")) {
    io.out(toJsonLine({ skills: checked, invalid, skipped }));
  } else {
    const missed = skipped.map(({ path, reason }) => `${join(folder, path)}  skipped: ${reason}`);
    const rest = skipped.length === 0 ? "" : `, ${skipped.length} skipped`;
    const summary = `${count(checked.length, "skill")}: ${checked.length - invalid} ok, ${invalid} invalid${rest}`;
    io.out(`${[...checked.flatMap(render), ...missed.map(toLine), summary].join("\n")}\n`);
  }
  // Skipped skills have not passed.
  return invalid === 0 && skipped.length === 0 ? 0 : 1;
};

function readIgnored(given: string | undefined): ReadonlySet<SkillRule> {
  const names = (given ?? "").split(",").map((name) => name.trim());
  return new Set(names.filter((name) => name !== "").map(toRule));
}

function toRule(name: string): SkillRule {
  if (isSkillRule(name)) return name;
  const known = Object.keys(skillRules);
  const hint = didYouMean(name, known, `there are ${known.join(", ")}`);
  throw new StrataError("usage", `there is no rule ${JSON.stringify(name)}`, hint);
}

/** A check of nothing must not pass. */
function noSkills(folder: string, skipped: number): StrataError {
  const links =
    skipped === 0 ? "" : `; ${count(skipped, "folder or link", "folders or links")} were skipped`;
  return new StrataError(
    "not-found",
    `there is no SKILL.md in ${folder} or below it${links}`,
    "name a folder of skills",
  );
}

function check(
  { path, reading }: FoundSkill,
  folder: string,
  { ignored, isStrict }: { readonly ignored: ReadonlySet<SkillRule>; readonly isStrict: boolean },
): CheckedSkill {
  const violations = reading.violations.filter(({ rule }) => !ignored.has(rule));
  const { warnings } = reading;
  const ok = violations.length === 0 && (!isStrict || warnings.length === 0);
  return { path: join(folder, path), ok, violations, warnings };
}

function render({ path, ok, violations, warnings }: CheckedSkill): readonly string[] {
  const mark = ok ? styleText("green", "ok     ") : styleText("red", "invalid");
  const lines = [
    ...violations.map(({ rule, message }) => `         ${message} [${rule}]`),
    ...warnings.map(({ rule, message }) => `         warning: ${message} [${rule}]`),
  ];
  return [`${mark}  ${toLine(path)}`, ...lines.map(toLine)];
}

/** A file name from outside must not look like our own output lines. */
function toLine(text: string): string {
  return toPrintable(text.replaceAll("\n", "\\n"));
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
