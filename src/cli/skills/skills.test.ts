import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StrataError } from "../../core/strata-error.ts";
import { parseInput } from "../command.ts";
import { skillsCommands } from "./skills-commands.ts";

let folder = "";
/** More variables for the program. */
let env: Record<string, string> = {};

beforeEach(() => {
  env = {};
  folder = mkdtempSync(join(tmpdir(), "strata-skills-cli-"));
  put("work/.strata/skills/pdf/SKILL.md", skillText("pdf", "Fills forms.", "Fill them."));
  put("work/.strata/skills/bad/SKILL.md", skillText("other", "x", "y"));
  put("global/pdf/SKILL.md", skillText("pdf", "An older one.", "Old."));
  put("global/mail/SKILL.md", skillText("mail", "Sends mail.", "Ask \u001b[31mfirst."));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const places = (): readonly string[] => [
  "--workspace",
  join(folder, "work"),
  "--global",
  join(folder, "global"),
];

describe("skills list", () => {
  test("shows what a session would have, what is hidden, and what is left out with its reason", async () => {
    const { out, status } = await strata("list", ...places());
    expect(status).toBe(0);
    expect(out).toBe(
      [
        "skill  source     version           tokens  description",
        "mail   global     fb8d028149e59767       3  Sends mail.",
        "pdf    workspace  a6bdd5598a4fe7d8       2  Fills forms.",
        "",
        "pdf: the workspace's skill hides the global one",
        'left out: .strata/skills/bad: the name is "other" and the folder "bad"; make them the same [name-folder]',
        `${join(folder, "global/mail")}: there is a hidden character, U+001B: a model reads it and people do not [hidden-characters]`,
        "",
      ].join("\n"),
    );
  });

  test("looks for skills of every workspace where the configuration says", async () => {
    env = { STRATA_SKILLS__GLOBAL_ROOT: join(folder, "global") };
    const { out } = await strata("list", "--workspace", join(folder, "work"));
    expect(out).toMatch(/^mail +global/m);
  });

  test("gives the same for machines, without bodies", async () => {
    const { out } = await strata("list", ...places(), "--json");
    const listed = JSON.parse(out) as Record<string, readonly Record<string, unknown>[]>;
    expect(listed["skills"]?.map((skill) => skill["name"])).toEqual(["mail", "pdf"]);
    expect(listed["skills"]?.[0]).not.toHaveProperty("body");
    expect(listed["problems"]).toMatchObject([{ rule: "name-folder" }]);
  });

  test("says when there are none, and when a folder does not exist", async () => {
    mkdirSync(join(folder, "empty"));
    const none = await strata("list", "--workspace", join(folder, "empty"), "--global", "-");
    expect(none.out).toBe("There are no skills.\n");
    await expect(strata("list", "--workspace", join(folder, "missing"))).rejects.toMatchObject({
      code: "not-found",
    });
  });
});

describe("skills show", () => {
  test("shows the frontmatter and the body, with nothing that steers a terminal", async () => {
    const { out } = await strata("show", "mail", ...places());
    expect(out).toBe(
      `mail\n  description  Sends mail.\n  source       global, ${join(folder, "global/mail")}\n  version      fb8d028149e59767\n  size         about 3 tokens\n\nAsk ␛[31mfirst.\n`,
    );
    const { out: json } = await strata("show", "pdf", ...places(), "--json");
    expect(JSON.parse(json)).toMatchObject({
      name: "pdf",
      source: "workspace",
      body: "Fill them.",
    });
  });

  test("says why a skill is left out, and what was probably meant", async () => {
    await expect(strata("show", "bad", ...places())).rejects.toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("[name-folder]") as string,
    });
    await expect(strata("show", "pdff", ...places())).rejects.toMatchObject({
      code: "not-found",
      hint: "did you mean pdf?",
    });
  });
});

describe("skills search", () => {
  test("finds what an agent would", async () => {
    expect((await strata("search", "mail", ...places())).out).toBe("mail  (3)  Sends mail.\n");
    expect((await strata("search", "send", "forms", ...places())).out).toBe(
      "No skill matches the whole query; these match some words:\nmail  (1)  Sends mail.\npdf  (1)  Fills forms.\n",
    );
    expect((await strata("search", "video", ...places())).out).toBe("No skill was found.\n");
    const { out } = await strata("search", "", "--limit", "1", ...places(), "--json");
    expect(JSON.parse(out)).toMatchObject({ total: 2, results: [{ name: "mail" }] });
    await expect(strata("search", "x", "--limit", "0", ...places())).rejects.toThrow(StrataError);
  });
});

describe("skills check", () => {
  test("passes a folder of valid skills", async () => {
    const { out, status } = await strata("check", join(folder, "global"));
    expect(status).toBe(0);
    expect(out).toBe(
      [
        `ok       ${join(folder, "global/mail")}`,
        "         warning: there is a hidden character, U+001B: a model reads it and people do not [hidden-characters]",
        `ok       ${join(folder, "global/pdf")}`,
        "2 skills: 2 ok, 0 invalid",
        "",
      ].join("\n"),
    );
    expect((await strata("check", join(folder, "global"), "--strict")).status).toBe(1);
  });

  test("fails when one is invalid, wherever it is, and names the rule", async () => {
    symlinkSync(join(folder, "global"), join(folder, "work/link"));
    put("work/node_modules/a/SKILL.md", "not ours");
    put("work/.strata/skills/pdf/examples/x/SKILL.md", "an example");
    const { out, status } = await strata("check", join(folder, "work"));
    expect(status).toBe(1);
    expect(out).toBe(
      [
        `invalid  ${join(folder, "work/.strata/skills/bad")}`,
        '         the name is "other" and the folder "bad"; make them the same [name-folder]',
        `ok       ${join(folder, "work/.strata/skills/pdf")}`,
        `invalid  ${join(folder, "work/link")}`,
        "         the folder is a symbolic link, which is not followed; copy it here [file-kind]",
        "3 skills: 1 ok, 2 invalid",
        "",
      ].join("\n"),
    );
  });

  test("does not pass what a session leaves out: a linked skill, alone or beside others", async () => {
    symlinkSync(join(folder, "global/pdf"), join(folder, "global/linked"));
    symlinkSync(join(folder, "nowhere"), join(folder, "global/dangling"));
    symlinkSync(join(folder, "global/pdf/SKILL.md"), join(folder, "global/README.md"));
    const { out, status } = await strata("check", join(folder, "global"));
    expect(status).toBe(1);
    expect(out).toContain("4 skills: 2 ok, 2 invalid");
    expect((await strata("check", join(folder, "global"), "--ignore", "file-kind")).status).toBe(0);
  });

  test("does not pass what it did not look into: too deep, or beyond what a session reads", async () => {
    const deep = Array.from({ length: 14 }, (_, level) => `d${level}`).join("/");
    put(`global/${deep}/pdf/SKILL.md`, "whatever");
    const { out, status } = await strata("check", join(folder, "global"));
    expect(status).toBe(1);
    expect(out).toMatch(
      /d12 {2}skipped: more than 12 folders deep\n2 skills: 2 ok, 0 invalid, 1 skipped/,
    );
    rmSync(join(folder, "global/d0"), { recursive: true });
    for (let number = 0; number < 1000; number += 1) mkdirSync(join(folder, `global/x${number}`));
    const many = await strata("check", join(folder, "global"));
    expect(many.status).toBe(1);
    expect(many.out).toContain("skipped: 1002 folders; a session reads the first 1000 by name");
  });

  test("says of a folder whose name is no text what is wrong with it", async () => {
    mkdirSync(Buffer.concat([Buffer.from(`${join(folder, "global")}/caf`), Buffer.from([0xe9])]));
    const { out, status } = await strata("check", join(folder, "global"));
    expect(status).toBe(1);
    expect(out).toContain("the name of the folder is not UTF-8; rename it [file-access]");
  });

  test("keeps what others named on its line", async () => {
    put("odd/SKILL.md", '---\nname: odd\ndescription: b\n"x\\nok       /all/fine": y\n---\nz');
    put("od\nd/SKILL.md", "none");
    const { out } = await strata("check", folder);
    expect(out.split("\n").filter((line) => line.startsWith("ok       /all/fine"))).toEqual([]);
    expect(out).toContain("od\\nd");
  });

  test("can ignore a rule, and knows the rules", async () => {
    const bad = join(folder, "work/.strata/skills/bad");
    expect((await strata("check", bad)).status).toBe(1);
    expect((await strata("check", bad, "--ignore", "name-folder")).status).toBe(0);
    await expect(strata("check", bad, "--ignore", "name-folders")).rejects.toMatchObject({
      hint: expect.stringContaining("did you mean name-folder") as string,
    });
  });

  test("does not pass where there is nothing to check", async () => {
    mkdirSync(join(folder, "empty"));
    await expect(strata("check", join(folder, "empty"))).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("there is no SKILL.md in") as string,
    });
  });

  test("gives one value for machines", async () => {
    const { out, status } = await strata("check", join(folder, "work"), "--json");
    expect(status).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      invalid: 1,
      skills: [
        { ok: false, violations: [{ rule: "name-folder" }], warnings: [] },
        { ok: true, violations: [], warnings: [] },
      ],
      skipped: [],
    });
  });
});

async function strata(
  name: string,
  ...words: readonly string[]
): Promise<{ readonly out: string; readonly status: number }> {
  const command = skillsCommands.find((each) => each.name === `skills ${name}`);
  if (command === undefined) throw new Error(`no command ${name}`);
  let out = "";
  const { run } = await command.load();
  const io = { out: (text: string) => void (out += text), error: () => {}, env };
  const status = await run(parseInput(command, words), io);
  return { out: stripVTControlCharacters(out), status };
}

function put(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

function skillText(name: string, description: string, body: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
}
