// Goal: a strata.yaml that an agent wrote, or that came with a repository, raises no rights. Method: every key of the schema is
// written into a found file, one by one; only those on the list pass.
import { describe, expect, test } from "vitest";
import { treeOf } from "../../edge/config/test-kit.ts";
import { describeProblem } from "./config-problem.ts";
import { flag } from "./leaves.ts";
import { toNormalSpelling, readConfig } from "./read-config.ts";
import { schema } from "./schema.ts";
import { group } from "./sections.ts";
import { describeSettings } from "./settings.ts";
import type { Spec } from "./spec.ts";
import { checkWorkspaceFile, inWorkspace, workspaceKeys } from "./workspace-file.ts";

function found(yaml: string): ReturnType<typeof treeOf> {
  return treeOf(yaml, "/repo/strata.yaml", true);
}

/** A file that sets one key to something, in flow style. */
function fileWith(path: string): string {
  const parts = path.replaceAll("NAME", "ana").split(".");
  return parts.reduceRight(
    (below, part) => (part === "N" ? `[${below}]` : `{ ${part}: ${below} }`),
    "x",
  );
}

function refusalsOf(yaml: string, spec: Spec<unknown> = schema): readonly string[] {
  const { node } = toNormalSpelling(found(yaml));
  return checkWorkspaceFile(node, spec).map(({ message }) => message);
}

describe("in a file that is found in a workspace", () => {
  const all = describeSettings().map(({ path }) => path);

  test("the allowed keys are keys of the schema", () => {
    expect(workspaceKeys.filter((key) => !all.includes(key))).toEqual([]);
  });

  test.each(all.filter((path) => workspaceKeys.includes(path)))("%s is allowed", (path) => {
    expect(refusalsOf(fileWith(path))).toEqual([]);
  });

  test.each(all.filter((path) => !workspaceKeys.includes(path)))("%s is refused", (path) => {
    expect(refusalsOf(fileWith(path))).toEqual([expect.stringContaining(inWorkspace)]);
  });

  test("a key that is added to the schema later is refused, at the top and below an allowed group", () => {
    const include = flag(false, "planted");
    const planted = group("planted", { include, models: group("planted", { hook: include }) });
    expect(refusalsOf("include: true", planted)).toEqual([
      expect.stringContaining(`include ${inWorkspace}`),
    ]);
    expect(refusalsOf("models: { hook: true }", planted)).toEqual([
      expect.stringContaining(`models.hook ${inWorkspace}`),
    ]);
  });

  test.each(["routing: { rules: [] }", "context_optimization: { compaction: { auto: {} } }"])(
    "%s is refused, though it is empty",
    (yaml) => {
      expect(refusalsOf(yaml)).toHaveLength(1);
    },
  );

  test("a refused key makes the file an error with a place and a hint", () => {
    const { config, problems } = readConfig({ files: [found("tools:\n  bash: true\n")] });
    expect(config).toBeNull();
    expect(problems.map(describeProblem)).toEqual([
      "/repo/strata.yaml:1:1: tools cannot be set in a file that is found in a workspace: another person or the agent may have written it; set it in your own file (strata config path names it), or name this file with --config or STRATA_CONFIG",
    ]);
    expect(readConfig({ files: [treeOf("tools: { bash: true }")] }).config).not.toBeNull();
  });
});

describe("the choice of a model in a found file", () => {
  const own = treeOf(`models:
  default: claude-sonnet-5-5
  aliases: { small: claude-haiku-4-5, other: gpt-5.4-mini }
agents: { bob: { model: gpt-5.4 } }
`);
  function problemsWith(yaml: string): readonly string[] {
    return readConfig({ files: [own, found(yaml)] }).problems.map(({ message }) => message);
  }

  test.each([
    "models: { default: small }",
    "models: { default: claude-haiku-4-5 }",
    "routing: { workspace_default: small }",
    "agents: { ana: { model: claude-haiku-4-5 } }",
    "agents: { bob: { model: other } }",
  ])("holds for a configured model of the same provider: %s", (yaml) => {
    expect(problemsWith(yaml)).toEqual([]);
  });

  test.each([
    "models: { default: claude-opus-5-5 }",
    "routing: { workspace_default: claude-opus-5-5 }",
    "agents: { ana: { model: openrouter/claude-haiku-4-5 } }",
  ])("is refused for a model that the user did not configure: %s", (yaml) => {
    expect(problemsWith(yaml)).toEqual([
      expect.stringContaining("names a model that you did not configure"),
    ]);
  });

  test.each(["models: { default: other }", "agents: { bob: { model: small } }"])(
    "is refused where another provider would get the conversation: %s",
    (yaml) => {
      expect(problemsWith(yaml)).toEqual([
        expect.stringContaining("would change the provider that gets the conversation"),
      ]);
    },
  );

  test("is refused where the user chose no model", () => {
    const { config } = readConfig({ files: [found("models: { default: claude-opus-5-5 }")] });
    expect(config).toBeNull();
  });
});
