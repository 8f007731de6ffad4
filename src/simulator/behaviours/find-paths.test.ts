import { expect, test } from "vitest";
import { findFolder, findPaths } from "./find-paths.ts";

test.each([
  ["README.md\nsrc\npackage.json\n", ["README.md", "package.json"]],
  ["src/a.ts:12: const x\n./b.py\n/srv/c.go", ["src/a.ts", "b.py", "/srv/c.go"]],
  ["see https://example.com/x.js and 1.2.3", []],
  ["logo.png .env .env.local id_rsa.pub api-keys.json secrets.yaml token.txt", []],
  ["../up.ts $(rm -rf).sh -rf.sh a;b.ts 'q.ts' \"r.ts\" `s.ts`", ["q.ts", "r.ts", "s.ts"]],
  ["a.ts ./a.ts", ["a.ts"]],
])("files are found in %j", (text, paths) => {
  expect(findPaths(text)).toEqual(paths);
});

test.each([
  ["<environment_context>\n  <cwd>/srv/app</cwd>", "/srv/app"],
  ["Working directory: /srv/me/app\nPlatform: linux", "/srv/me/app"],
  ["Primary working directory: `/srv/me/app`", "/srv/me/app"],
  ["Current working directory: /tmp/x.", "/tmp/x"],
  ["nothing of the kind", null],
])("the folder is found in %j", (system, folder) => {
  expect(findFolder({ ...empty, system })).toBe(folder);
});

test("the folder is what pwd answered, where nothing else says it", () => {
  const toolResults = [{ id: "1", text: "/srv/app\n", isError: false }];
  const turns = [{ role: "user" as const, text: "", toolUses: [], toolResults }];
  expect(findFolder({ ...empty, turns })).toBe("/srv/app");
});

const empty = {
  model: "claude-sonnet-5-5",
  wants: "reply",
  instructions: null,
  system: "",
  tools: [],
  turns: [],
  outputTokensMax: 1000,
  thinks: false,
  toolChoice: "auto",
} as const;
