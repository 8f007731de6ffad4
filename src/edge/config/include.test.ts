// Goal: one configuration in several files. Method: files on disk, read once and followed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeProblem } from "../../core/config/config-problem.ts";
import { originOf } from "../../core/config/settings.ts";
import { findConfigFiles } from "./find-config-files.ts";
import { loadConfig } from "./load-config.ts";
import { openConfig, type LiveConfig } from "./open-config.ts";
import { hashConfig, trustContent } from "./trusted-files.ts";

let folder = "";
let reported: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-include-"));
  reported = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const files = (): { path: string; isFound: boolean; isNamed: boolean }[] => [
  { path: join(folder, "strata.yaml"), isFound: false, isNamed: true },
];

function open(): Promise<LiveConfig> {
  return openConfig({
    files: files(),
    env: {},
    onProblem: ({ message }) => void reported.push(message.replaceAll(`${folder}/`, "")),
  });
}

async function problems(): Promise<string[]> {
  const { problems: found } = await loadConfig({ files: files(), env: {} });
  return found.map((each) => describeProblem(each).replaceAll(`${folder}/`, ""));
}

describe("include", () => {
  test("reads llm.yaml and agents.yaml in the spelling of each; the including file wins, and origins stay", async () => {
    write(
      "strata.yaml",
      "include: [parts/llm.yaml, parts/agents.yaml]\nagents: { ana: { policy: nexo } }\n",
    );
    write("parts/llm.yaml", "context_optimization: { compaction: { enabled: true } }\n");
    write(
      "parts/agents.yaml",
      "include: ../more/bob.yaml\nagents:\n- id: ana\n  policy: metis\n  model: claude-haiku-4-5\n",
    );
    write("more/bob.yaml", "agents: { bob: { system_file: bob.md } }\n");
    const { config, settings, filesThere } = await loadConfig({ files: files(), env: {} });
    expect(config?.compaction.isEnabled).toBe(true);
    expect(config?.agents.get("ana")).toMatchObject({ policy: "nexo", model: "claude-haiku-4-5" });
    expect(config?.agents.get("bob")?.systemFile).toBe(join(folder, "more/bob.md"));
    const of = (path: string): string | undefined => {
      const setting = settings.find((each) => each.path === path);
      return setting === undefined ? undefined : originOf(setting).replace(`${folder}/`, "");
    };
    expect(of("agents.ana.model")).toBe("parts/agents.yaml:5");
    expect(of("agents.ana.policy")).toBe("strata.yaml:2");
    expect(filesThere.map((path) => path.replace(`${folder}/`, ""))).toEqual([
      "parts/llm.yaml",
      "more/bob.yaml",
      "parts/agents.yaml",
      "strata.yaml",
    ]);
  });

  test("a file that is missing, a circle and a wrong value are errors with their place", async () => {
    write("strata.yaml", "policies: { default: none }\ninclude:\n- gone.yaml\n- one.yaml\n");
    write("one.yaml", "include: two.yaml\n");
    write("two.yaml", "include: [one.yaml]\npolices: {}\n");
    expect(await problems()).toEqual([
      "two.yaml:1:11: include leads back to one.yaml; remove one of the two includes",
      "two.yaml:2:1: polices is not a setting; did you mean policies?",
      "strata.yaml:3:3: include names gone.yaml, and there is no such file; write it, or correct the path: it begins at the folder of this file",
    ]);
    write("strata.yaml", "include: { a: 1 }\n");
    expect(await problems()).toEqual([
      "strata.yaml:1:10: include is a group of settings, but must be a file, or a list of files; correct it, or remove it",
    ]);
  });

  test("a file that was found in a workspace includes nothing", async () => {
    write("work/strata.yaml", "include: [agents.yaml]\n");
    write("work/agents.yaml", "policies: { default: none }\n");
    const found = findConfigFiles({ env: {}, workspace: join(folder, "work"), homeFolder: folder });
    const { config, problems: all } = await loadConfig({ files: found, env: {} });
    expect(config).toBeNull();
    expect(all[0]?.message).toContain(
      "include cannot be set in a file that is found in a workspace",
    );
  });

  test("an included file in the agent's reach counts only with trusted content", async () => {
    const workspace = join(folder, "work");
    const given = write("own/strata.yaml", "include: ../work/agents.yaml\n");
    const text = "policies: { default: none }\n";
    const path = write("work/agents.yaml", text);
    const where = {
      given,
      env: { XDG_CONFIG_HOME: join(folder, "config") },
      workspace,
      homeFolder: folder,
    };
    const before = await loadConfig({ files: findConfigFiles(where), env: {} });
    expect(before.config).toBeNull();
    expect(before.problems[0]?.hint).toContain(`strata config trust ${path}`);
    const storePath = join(folder, "config/strata/trusted.json");
    trustContent({ path, storePath, workspace }, hashConfig(text));
    const after = await loadConfig({ files: findConfigFiles(where), env: {} });
    expect(after.config?.policies.default).toBe("none");
  });
});

describe("while a program runs", () => {
  test("a change of any of the files holds from the next question on", async () => {
    write("strata.yaml", "include: one.yaml\n");
    write("one.yaml", "policies: { default: nexo }\n");
    const live = await open();
    expect((await live.current()).policies.default).toBe("nexo");
    write("one.yaml", "policies: { default: metis }\n");
    expect((await live.current()).policies.default).toBe("metis");
    write("two.yaml", "policies: { default: none }\n");
    write("strata.yaml", "include: [one.yaml, two.yaml]\n");
    expect((await live.current()).policies.default).toBe("none");
    expect(live.files().map((path) => path.replace(`${folder}/`, ""))).toEqual([
      "one.yaml",
      "two.yaml",
      "strata.yaml",
    ]);
    expect(reported).toEqual([]);
  });

  test("a broken or missing one leaves what was configured before", async () => {
    write("strata.yaml", "include: one.yaml\n");
    write("one.yaml", "policies: { default: nexo }\n");
    const live = await open();
    write("one.yaml", "policies: { default: nobody }\n");
    expect((await live.current()).policies.default).toBe("nexo");
    expect(reported.join("\n")).toContain("one.yaml:1:");
    write("strata.yaml", "include: [gone.yaml]\n");
    expect((await live.current()).policies.default).toBe("nexo");
    expect(reported.join("\n")).toContain("include names gone.yaml, and there is no such file");
    write("gone.yaml", "policies: { default: none }\n");
    expect((await live.current()).policies.default).toBe("none");
  });
});
