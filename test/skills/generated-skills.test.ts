// Goal: the check passes what is valid and names the one rule that is broken. Method: 500 generated skills on disk, and the command on them.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../harness/random-message.ts";
import {
  breakable,
  brokenSkill,
  randomSkill,
  type SkillFile,
} from "../../harness/random/random-skills.ts";
import { run } from "../../src/cli/skills/skills-check.ts";
import { skillRules } from "../../src/core/skills/skill-rules.ts";

let folder = "";
const files = new Map<string, SkillFile>();

interface Checked {
  readonly path: string;
  readonly ok: boolean;
  readonly violations: readonly { readonly rule: string; readonly message: string }[];
}

let checked: readonly Checked[] = [];
let status = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-skills-"));
  const random = createRandom(7);
  for (let index = 0; index < 500; index += 1) {
    const rule = breakable[(index >> 1) % breakable.length] ?? "file-text";
    const file = index % 2 === 0 ? randomSkill(random) : brokenSkill(random, rule);
    const path = join(folder, `set-${index}`, file.folder);
    mkdirSync(path, { recursive: true });
    if (file.bytes === null) symlinkSync("/etc/passwd", join(path, file.fileName));
    else writeFileSync(join(path, file.fileName), file.bytes);
    files.set(path, file);
  }
  let out = "";
  const input = {
    operands: [folder],
    values: new Map<string, string>(),
    switches: new Set(["json"]),
  };
  status = await run(input, { out: (text) => void (out += text), error: () => {}, env: {} });
  ({ skills: checked } = JSON.parse(out) as { skills: readonly Checked[] });
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every one of 500 skills is found, and the command fails because some are invalid", () => {
  expect(checked.length).toBe(500);
  expect(status).toBe(1);
});

test("every valid skill is ok", () => {
  const refused = checked.filter(({ path, ok }) => files.get(path)?.broken === null && !ok);
  expect(refused).toEqual([]);
});

test("of every invalid skill exactly the broken rule is named", () => {
  const wrong = checked
    .map(({ path, violations }) => ({
      path,
      expected: files.get(path)?.broken ?? null,
      named: [...new Set(violations.map(({ rule }) => rule))].join(", ") || null,
      text: String(files.get(path)?.bytes?.subarray(0, 300)),
    }))
    .filter(({ expected, named }) => expected !== named);
  expect(wrong).toEqual([]);
});

test("every rule but one is broken by some file; that one is about access, and has its own test", () => {
  const rules = new Set([...files.values()].map(({ broken }) => broken));
  const missing = Object.keys(skillRules).filter(
    (rule) => !(rules as Set<string | null>).has(rule),
  );
  expect(missing).toEqual(["file-access"]);
});
