import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findConfigFiles } from "./find-config-files.ts";

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "strata-find-"));
  mkdirSync(join(root, "repo", ".git"), { recursive: true });
  mkdirSync(join(root, "repo", "a", "b"), { recursive: true });
  mkdirSync(join(root, "loose"));
});
afterAll(() => rmSync(root, { recursive: true }));

function look(workspace: string, env: Record<string, string> = {}, given?: string): unknown[] {
  return findConfigFiles({ given, env, workspace, homeFolder: join(root, "home") }).map(
    ({ path, isFound }) => [path.replace(root, ""), isFound],
  );
}

const own = ["/home/.config/strata/strata.yaml", false];

describe("a configuration is looked for", () => {
  test("in one's own folder, then from the root of the repository down to the workspace", () => {
    expect(look(join(root, "repo", "a", "b"))).toEqual([
      own,
      ["/repo/strata.yaml", true],
      ["/repo/a/strata.yaml", true],
      ["/repo/a/b/strata.yaml", true],
    ]);
  });

  test("outside of a repository in the workspace alone, never above it", () => {
    expect(look(join(root, "loose"))).toEqual([own, ["/loose/strata.yaml", true]]);
  });

  test("where XDG_CONFIG_HOME says, if it is an absolute path", () => {
    const workspace = join(root, "loose");
    const [first] = look(workspace, { XDG_CONFIG_HOME: join(root, "xdg") });
    expect(first).toEqual(["/xdg/strata/strata.yaml", false]);
    expect(look(workspace, { XDG_CONFIG_HOME: "xdg" })[0]).toEqual(own);
  });

  test("in the named file and nowhere else, --config before STRATA_CONFIG", () => {
    const env = { STRATA_CONFIG: "/etc/strata.yaml" };
    expect(look(root, env)).toEqual([["/etc/strata.yaml", false]]);
    expect(look(root, env, "x.yaml")).toEqual([[resolve("x.yaml"), false]]);
  });

  test("a variable that is not an absolute path is an error", () => {
    expect(() => look(root, { STRATA_CONFIG: "x.yaml" })).toThrow("STRATA_CONFIG is x.yaml");
  });

  test("a workspace that is one's own folder is one's own", () => {
    expect(look(join(root, "home", ".config", "strata"))).toEqual([own]);
  });
});
