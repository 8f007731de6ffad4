import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ToolError } from "../../../core/tools/tool.ts";
import { openScope, type ScopedFiles } from "../guard/scoped-files.ts";
import { createSkillCache, readSkillFolder, readSkillRoot } from "./read-skill-root.ts";
import { createSkillStore, type SkillStore } from "./skill-store.ts";

/** In a variable: the check for unused packages takes a literal for one of them. */
const makePipe = "mkfifo";

let folder = "";
let workspace = "";
let globalRoot = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-skill-store-"));
  workspace = join(folder, "work");
  globalRoot = join(folder, "home", "skills");
  mkdirSync(workspace);
  mkdirSync(globalRoot, { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("what a session begins with (M-50)", () => {
  test("both roots, the workspace's skill as a whole where both have one", async () => {
    put(join(globalRoot, "pdf/SKILL.md"), skillText("pdf", "global one"));
    put(join(globalRoot, "mail/SKILL.md"), skillText("mail", "global mail"));
    put(join(workspace, ".strata/skills/pdf/SKILL.md"), skillText("pdf", "own one"));
    const { snapshot } = await open();
    expect(snapshot.skills.map(({ name, source, body }) => [name, source, body])).toEqual([
      ["mail", "global", "global mail"],
      ["pdf", "workspace", "own one"],
    ]);
    expect(snapshot.shadowed.map(({ name, source }) => [name, source])).toEqual([
      ["pdf", "global"],
    ]);
    expect(snapshot.problems).toEqual([]);
  });

  test("nothing, where no root is there", async () => {
    rmSync(globalRoot, { recursive: true });
    const { snapshot } = await open();
    expect(snapshot.skills).toEqual([]);
    expect(snapshot.problems).toEqual([]);
    expect((await createSkillStore({})).snapshot.skills).toEqual([]);
  });

  test("skills of .metis where .strata has none, and never of both", async () => {
    put(join(workspace, ".metis/skills/old/SKILL.md"), skillText("old", "x"));
    expect(namesIn(await open())).toEqual(["old"]);
    put(join(workspace, ".strata/skills/new/SKILL.md"), skillText("new", "x"));
    expect(namesIn(await open())).toEqual(["new"]);
  });

  test("other files and folders are passed over", async () => {
    put(join(workspace, ".strata/skills/README.md"), "about them");
    put(join(workspace, ".strata/skills/notes/readme.md"), "not a skill");
    put(join(workspace, ".strata/skills/.git/SKILL.md"), "whatever");
    const { snapshot } = await open();
    expect(snapshot.skills).toEqual([]);
    expect(snapshot.problems).toEqual([]);
  });

  test("an invalid skill is reported with its reason, and the rest load", async () => {
    put(join(workspace, ".strata/skills/bad/SKILL.md"), "no frontmatter");
    put(join(workspace, ".strata/skills/good/SKILL.md"), skillText("good", "x"));
    put(join(workspace, ".strata/skills/small/skill.md"), skillText("small", "x"));
    const { snapshot } = await open();
    expect(snapshot.skills.map(({ name }) => name)).toEqual(["good"]);
    expect(snapshot.problems).toEqual([
      {
        source: "workspace",
        folder: ".strata/skills/bad",
        rule: "frontmatter-missing",
        message:
          "the first line is not ---; begin the file with frontmatter between two such lines",
      },
      {
        source: "workspace",
        folder: ".strata/skills/small",
        rule: "file-name",
        message: "the file is called skill.md; rename it SKILL.md",
      },
    ]);
  });

  test("an invalid skill of the workspace does not hide the global one", async () => {
    put(join(globalRoot, "pdf/SKILL.md"), skillText("pdf", "global one"));
    put(join(workspace, ".strata/skills/pdf/SKILL.md"), "broken");
    const { snapshot } = await open();
    expect(snapshot.find("pdf")?.source).toBe("global");
    expect(snapshot.problems).toHaveLength(1);
  });

  test("the same skills for the whole session, whatever happens on the disk", async () => {
    const file = join(workspace, ".strata/skills/pdf/SKILL.md");
    put(file, skillText("pdf", "first"));
    const store = await open();
    put(file, skillText("pdf", "second"));
    put(join(workspace, ".strata/skills/more/SKILL.md"), skillText("more", "x"));
    expect(store.snapshot.find("pdf")?.body).toBe("first");
    expect(namesIn(store)).toEqual(["pdf"]);
    expect(Object.isFrozen(store.snapshot)).toBe(true);
    expect(Object.isFrozen(store.snapshot.skills)).toBe(true);
    expect(Object.isFrozen(store.snapshot.find("pdf"))).toBe(true);
    expect(namesIn(await open())).toEqual(["more", "pdf"]);
  });
});

describe("what is refused, with a reason", () => {
  test.each<[string, (skill: string) => void, string, RegExp]>([
    [
      "a SKILL.md that links outside",
      (skill) => {
        put(join(folder, "secret.md"), skillText("evil", "secret"));
        mkdirSync(skill);
        symlinkSync(join(folder, "secret.md"), join(skill, "SKILL.md"));
      },
      "file-kind",
      /^SKILL\.md is a symbolic link/,
    ],
    [
      "a folder that links outside",
      (skill) => {
        put(join(folder, "elsewhere/SKILL.md"), skillText("evil", "secret"));
        symlinkSync(join(folder, "elsewhere"), skill);
      },
      "file-kind",
      /^the folder is a symbolic link/,
    ],
    [
      "a SKILL.md that is a folder",
      (skill) => mkdirSync(join(skill, "SKILL.md"), { recursive: true }),
      "file-kind",
      /^SKILL\.md is a folder/,
    ],
    [
      "ten megabytes",
      (skill) => put(join(skill, "SKILL.md"), `${skillText("evil", "")}${"x".repeat(10_000_000)}`),
      "file-size",
      /^the file has 100000\d\d bytes, at most 524288 are read/,
    ],
    [
      "a picture",
      (skill) => put(join(skill, "SKILL.md"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])),
      "file-text",
      /^the file is binary, or not UTF-8/,
    ],
    [
      "UTF-16",
      (skill) => put(join(skill, "SKILL.md"), Buffer.from("\ufeff---\n", "utf16le")),
      "file-text",
      /^the file is UTF-16; save it as UTF-8/,
    ],
    [
      "a YAML bomb",
      (skill) => put(join(skill, "SKILL.md"), "---\na: &a [x]\nb: [*a, *a]\n---\n"),
      "frontmatter-alias",
      /^the frontmatter has the anchor or alias &a/,
    ],
  ])("%s", async (_what, make, rule, message) => {
    mkdirSync(join(workspace, ".strata/skills"), { recursive: true });
    make(join(workspace, ".strata/skills/evil"));
    const { snapshot } = await open();
    expect(snapshot.skills).toEqual([]);
    expect(snapshot.problems).toMatchObject([{ folder: ".strata/skills/evil", rule }]);
    expect(snapshot.problems[0]?.message).toMatch(message);
    expect(JSON.stringify(snapshot.problems)).not.toContain("secret");
  });

  test("a whole root that is a link is reported, and nothing behind it is read", async () => {
    put(join(folder, "elsewhere/evil/SKILL.md"), skillText("evil", "secret"));
    mkdirSync(join(workspace, ".strata"));
    symlinkSync(join(folder, "elsewhere"), join(workspace, ".strata/skills"));
    const { snapshot } = await open();
    expect(snapshot.skills).toEqual([]);
    expect(snapshot.problems).toMatchObject([{ folder: ".strata/skills", rule: "root" }]);
  });

  test("a global root may be a link: the caller who gives it vouches for it", async () => {
    put(join(globalRoot, "pdf/SKILL.md"), skillText("pdf", "x"));
    symlinkSync(globalRoot, join(folder, "link"));
    const store = await createSkillStore({ globalRoot: join(folder, "link") });
    expect(namesIn(store)).toEqual(["pdf"]);
  });

  test("a global root that is a file is reported", async () => {
    put(join(folder, "file"), "x");
    const { snapshot } = await createSkillStore({ globalRoot: join(folder, "file") });
    expect(snapshot.problems).toMatchObject([{ source: "global", rule: "root" }]);
  });

  test("a file that may not be read", async () => {
    const file = join(globalRoot, "pdf/SKILL.md");
    put(file, skillText("pdf", "x"));
    const scope = await openScope(globalRoot);
    const denied = new ToolError("permission_denied", "pdf/SKILL.md may not be touched (EACCES)");
    const closed = { ...scope, readFile: () => Promise.reject(denied) };
    const { violations } = (await readSkillFolder(closed, "pdf", "pdf")) ?? {};
    expect(violations).toEqual([{ rule: "file-access", message: denied.message }]);
  });

  test("more than a thousand folders are counted, not read", async () => {
    for (let index = 0; index < 1002; index += 1) mkdirSync(join(globalRoot, `s${index}`));
    const { snapshot } = await open();
    expect(snapshot.problems.map(({ message }) => message)).toEqual([
      "there are 1002 folders; the first 1000 by name were read",
    ]);
  });
});

describe("files beside a skill", () => {
  test("are read as text, from its own folder only", async () => {
    put(join(globalRoot, "pdf/SKILL.md"), skillText("pdf", "x"));
    put(join(globalRoot, "pdf/references/forms.md"), "All forms.");
    put(join(globalRoot, "mail/SKILL.md"), skillText("mail", "x"));
    put(join(globalRoot, "pdf/logo.png"), Buffer.from([0x89, 0, 1]));
    put(join(globalRoot, "pdf/big.md"), "x".repeat(200_000));
    put(join(folder, "home/secret"), "secret");
    symlinkSync(join(folder, "home/secret"), join(globalRoot, "pdf/link.md"));
    const store = await open();
    const pdf = store.snapshot.find("pdf");
    if (pdf === undefined) throw new Error("the skill is missing");
    await expect(store.readFile(pdf, "references/forms.md")).resolves.toBe("All forms.");
    await expect(store.readFile(pdf, "none.md")).rejects.toThrow("the skill has no file none.md");
    await expect(store.readFile(pdf, "../mail/SKILL.md")).rejects.toThrow(/outside the folder/);
    await expect(store.readFile(pdf, "a/../../mail/SKILL.md")).rejects.toThrow(/outside/);
    await expect(store.readFile(pdf, join(folder, "home/secret"))).rejects.toThrow(/outside/);
    await expect(store.readFile(pdf, "link.md")).rejects.toThrow(/symbolic link/);
    await expect(store.readFile(pdf, "logo.png")).rejects.toThrow("logo.png is no text in UTF-8");
    await expect(store.readFile(pdf, "big.md")).rejects.toThrow(/too large: it has 200000 bytes/);
    await expect(store.readFile(pdf, "references")).rejects.toThrow(/is a folder/);
  });
});

describe("saving (M-54)", () => {
  const pdf = { name: "pdf", description: "Fills forms.", body: "Fill them." };

  test("makes a valid skill of the workspace, for the next session", async () => {
    const store = await open();
    await expect(store.save(pdf)).resolves.toMatchObject({
      name: "pdf",
      source: "workspace",
      folder: ".strata/skills/pdf",
    });
    expect(readFileSync(join(workspace, ".strata/skills/pdf/SKILL.md"), "utf8")).toBe(
      "---\nname: pdf\ndescription: Fills forms.\n---\n\nFill them.\n",
    );
    expect(namesIn(store)).toEqual([]);
    expect(namesIn(await open())).toEqual(["pdf"]);
    expect(existsSync(join(globalRoot, "pdf"))).toBe(false);
  });

  test("goes where skills are already: into .metis where only that is there", async () => {
    mkdirSync(join(workspace, ".metis"));
    await (await open()).save(pdf);
    expect(existsSync(join(workspace, ".metis/skills/pdf/SKILL.md"))).toBe(true);
    expect(existsSync(join(workspace, ".strata"))).toBe(false);
  });

  test("never replaces one, and of many concurrent saves exactly one wins", async () => {
    const stores = await Promise.all([open(), open(), open(), open()]);
    const saves = stores.flatMap((store, index) =>
      [0, 1].map((second) => store.save({ ...pdf, body: `version ${index}-${second}` })),
    );
    const results = await Promise.allSettled(saves);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const before = readFileSync(join(workspace, ".strata/skills/pdf/SKILL.md"), "utf8");
    await expect((await open()).save(pdf)).rejects.toThrow(
      "the skill was not saved: there is a skill pdf in this workspace, and skills are not replaced; choose another name",
    );
    expect(readFileSync(join(workspace, ".strata/skills/pdf/SKILL.md"), "utf8")).toBe(before);
    expect(readdirSync(join(workspace, ".strata/skills/pdf"))).toEqual(["SKILL.md"]);
  });

  test.each<[string, Partial<typeof pdf>, RegExp]>([
    ["a name that is a path", { name: "../../evil" }, /\[name-characters\]/],
    ["an absolute path", { name: "/tmp/evil" }, /\[name-characters\]/],
    ["an empty name", { name: "" }, /\[name-missing\]/],
    ["a blank description", { description: "  " }, /\[description-missing\]/],
    ["an empty body", { body: " \n" }, /the body is empty/],
    ["a body with its own frontmatter", { body: "---\nname: x\n---\n" }, /frontmatter of its own/],
    ["too long a body", { body: "x".repeat(120_001) }, /120001 bytes, at most 120000/],
  ])("refuses %s, and writes nothing", async (_what, wrong, message) => {
    await expect((await open()).save({ ...pdf, ...wrong })).rejects.toThrow(message);
    expect(readdirSync(workspace)).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual(["home", "work"]);
  });

  test("is refused through a link, and without a workspace", async () => {
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(workspace, ".strata"));
    await expect((await open()).save(pdf)).rejects.toThrow(/symbolic link/);
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
    const store = await createSkillStore({ globalRoot });
    await expect(store.save(pdf)).rejects.toThrow("this session has no workspace");
  });
});

function open(): Promise<SkillStore> {
  return createSkillStore({ workspace, globalRoot });
}

function namesIn({ snapshot }: SkillStore): readonly string[] {
  return snapshot.skills.map(({ name }) => name);
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function skillText(name: string, body: string): string {
  return `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}\n`;
}

test("a later session reads only the skills that changed since, and sees every change", async () => {
  const skills = join(workspace, ".strata/skills");
  const write = (name: string, body: string): void => {
    mkdirSync(join(skills, name), { recursive: true });
    writeFileSync(
      join(skills, name, "SKILL.md"),
      `---\nname: ${name}\ndescription: What it does.\n---\n\n${body}\n`,
    );
  };
  for (const name of ["a", "b", "c"]) write(name, "First.");
  const files = await openScope(workspace);
  const reads: string[] = [];
  const scope: ScopedFiles = {
    ...files,
    readFile: (path, options) => (reads.push(path), files.readFile(path, options)),
  };
  const place = { scope, path: ".strata/skills", shown: "skills", source: "workspace" } as const;
  // Ten seconds later: a file that has just changed is always read again.
  const cache = createSkillCache(() => Date.now() + 10_000);
  const bodies = async (): Promise<readonly string[]> => {
    const root = await readSkillRoot(place, cache);
    return root.skills.map(({ name, body }) => `${name}: ${body}`);
  };
  expect(await bodies()).toEqual(["a: First.", "b: First.", "c: First."]);
  expect(reads.splice(0)).toHaveLength(3);
  expect(await bodies()).toEqual(["a: First.", "b: First.", "c: First."]);
  expect(reads).toEqual([]);
  write("b", "Other.");
  rmSync(join(skills, "c"), { recursive: true });
  expect(await bodies()).toEqual(["a: First.", "b: Other."]);
  expect(reads.splice(0)).toEqual([".strata/skills/b/SKILL.md"]);
  rmSync(join(skills, "a"), { recursive: true });
  symlinkSync(join(skills, "b"), join(skills, "a"));
  expect(await bodies()).toEqual(["b: Other."]);
});

test("a pipe, a folder or a link in the place of a SKILL.md is reported, and the others load", async () => {
  const skills = join(workspace, ".strata/skills");
  for (const name of ["pipe", "folder", "link", "good"])
    mkdirSync(join(skills, name), { recursive: true });
  execFileSync(makePipe, [join(skills, "pipe/SKILL.md")]);
  mkdirSync(join(skills, "folder/SKILL.md"));
  symlinkSync(join(skills, "good/SKILL.md"), join(skills, "link/SKILL.md"));
  writeFileSync(join(skills, "good/SKILL.md"), "---\nname: good\ndescription: Good.\n---\n\nGo.\n");
  const { snapshot } = await createSkillStore({ workspace });
  expect(snapshot.skills.map(({ name }) => name)).toEqual(["good"]);
  expect(snapshot.problems.map(({ folder: where, rule }) => [where, rule])).toEqual([
    [".strata/skills/folder", "file-kind"],
    [".strata/skills/link", "file-kind"],
    [".strata/skills/pipe", "file-kind"],
  ]);
});
