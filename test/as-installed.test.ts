// Goal: what a user gets works. Method: pack, unpack into an empty project linked to our runtime
// dependencies, run the program, import every entry point, run every example of the README.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };

let project = "";

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "strata-as-installed-"));
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const tarball = /"filename":\s*"([^"]+\.tgz)"/.exec(packed)?.[1] ?? "";
  const installed = join(project, "node_modules", packageJson.name);
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["xzf", join(project, tarball), "-C", installed, "--strip-components=1"]);
  // The README wraps a model of the AI SDK, which its reader has; a Node project has Node's types.
  const peers = ["ai", "@ai-sdk/anthropic", "langchain", "@types/node", "pg", "@types/pg"];
  for (const dependency of [...Object.keys(packageJson.dependencies), ...peers]) {
    const link = join(project, "node_modules", dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve("node_modules", dependency), link);
  }
  mkdirSync(join(project, "node_modules", ".bin"));
  symlinkSync(
    join("..", packageJson.name, packageJson.bin.strata),
    join(project, "node_modules", ".bin", "strata"),
  );
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
}, 120_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe("the packed package", () => {
  test("has a program that prints its version", () => {
    const { stdout, status } = strata("--version");
    expect({ stdout, status }).toEqual({ stdout: `${packageJson.version}\n`, status: 0 });
  });

  test("has a program whose commands find their data", () => {
    const { stdout } = strata("models", "show", "claude-sonnet-5-5", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ id: "claude-sonnet-5-5", minimumTokens: 512 });
    expect(strata("doctor", "--json").status).toBe(0);
  });

  test("has a program that prices files on two threads", () => {
    const header = { kind: "kvtrace", format: "ctx-kv/1", id: "t", block_size: 64 };
    const request = { kind: "request", t: 0, in: 64_000, out: 5, keep: 0, append: [[1, 1000]] };
    const text = [header, request].map((line) => JSON.stringify(line)).join("\n");
    const folder = join(project, "traces");
    mkdirSync(folder);
    for (const name of ["a.jsonl", "b.jsonl"]) writeFileSync(join(folder, name), text);
    const [one, two] = ["1", "2"].map((jobs) => strata("replay", folder, "--json", "--jobs", jobs));
    expect(JSON.parse(two?.stdout ?? "")).toMatchObject({ sessions: 2, requests: 2 });
    expect(two).toEqual(one);
  });

  test("links on an older Node far enough to say what is missing", () => {
    const program = readFileSync(
      join(project, "node_modules", packageJson.name, packageJson.bin.strata),
      "utf8",
    );
    const staticImports = [...program.matchAll(/^import (.*) from/gm)].map((match) => match[1]);
    expect(staticImports.length).toBeGreaterThan(0);
    expect(staticImports.filter((names) => names?.includes("{"))).toEqual([]);
  });

  test("says in one line what an older Node is missing", () => {
    const program = readFileSync(
      join(project, "node_modules", packageJson.name, packageJson.bin.strata),
      "utf8",
    );
    const older = program.replaceAll("process.versions.node", '"20.20.2"');
    expect(older).not.toBe(program);
    writeFileSync(join(project, "older.js"), older);
    const { stderr, status } = run(process.execPath, ["older.js", "--version"], project);
    expect(stderr).toMatch(/^strata needs Node 24 or later; this is v[\d.]+\n$/);
    expect(status).toBe(8);
  });

  test.each(Object.keys(packageJson.exports))(
    "has an entry point %s that can be imported",
    (entry) => {
      const name = `${packageJson.name}${entry.slice(1)}`;
      const attributes = entry.endsWith(".json") ? ', { with: { type: "json" } }' : "";
      const code = `const all = await import("${name}"${attributes}); console.log(Object.keys(all).length > 0)`;
      const { stdout, stderr } = run(
        process.execPath,
        ["--input-type=module", "-e", code],
        project,
      );
      expect({ stdout, stderr }).toEqual({ stdout: "true\n", stderr: "" });
    },
  );

  test("has types that a strict project without Node's types accepts", () => {
    const code = `import { decodeMessage, openEngine, type Message } from "${packageJson.name}";
import { assemble, planCache } from "${packageJson.name}/core";
export const message: Message = decodeMessage("{}");
export const parts = [assemble, planCache];
export async function ask(): Promise<void> {
  await using engine = await openEngine({ model: "claude-sonnet-5-5", simulate: true });
  const session = await engine.session("one");
  for await (const part of session.run("Hi")) if (part.type === "text") console.log(part.text);
}
declare const console: { log(text: string): void };
`;
    expect(checkTypes(code, { types: "", skipLibCheck: false })).toEqual(accepted);
  });

  const entries = Object.keys(packageJson.exports).filter((entry) => !entry.endsWith(".json"));
  // The AI SDK's own declarations do not pass the check of libraries.
  test.each([
    { skipLibCheck: false, chosen: entries.filter((entry) => entry !== "./ai-sdk") },
    { skipLibCheck: true, chosen: entries },
  ])("has types of $chosen that a strict project accepts", ({ chosen, skipLibCheck }) => {
    const code = chosen.map(
      (entry, index) => `export * as entry${index} from "${packageJson.name}${entry.slice(1)}";\n`,
    );
    expect(checkTypes(code.join(""), { types: "node", skipLibCheck })).toEqual(accepted);
  });
});

const accepted = { stdout: "", status: 0 };

function checkTypes(
  code: string,
  { types, skipLibCheck }: { readonly types: string; readonly skipLibCheck: boolean },
): { readonly stdout: string; readonly status: number | null } {
  writeFileSync(join(project, "types.ts"), code);
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024"];
  const libraries = ["--types", types, "--skipLibCheck", String(skipLibCheck)];
  const { stdout, status } = run("tsc", [...flags, ...libraries, "types.ts"], project);
  return { stdout, status };
}

describe("the README", () => {
  const readme = readFileSync("README.md", "utf8");
  const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    code: match[2] ?? "",
    end: match.index + match[0].length,
  }));
  const commands = blocks.filter(({ language }) => language === "console").flatMap(toCommands);

  test("has its two commands", () => {
    const lines = commands.map(({ command }) => command);
    expect(lines).toContain("npm ci && npm start");
    expect(lines).toContain("npm ci && npm test");
  });

  // What installs the project is what put this test here, and what tests it is running.
  const runnable = commands
    .map(({ command, output }) => ({ command: command.replace("npm ci && ", ""), output }))
    .filter(({ command }) => command !== "npm test");

  test.each(runnable)("shows the true output of $command", ({ command, output }) => {
    const { stdout, stderr } = run("bash", ["-c", command], process.cwd());
    // npm has words of its own about the machine's configuration.
    const printed = (stdout + stderr)
      .trimEnd()
      .split("\n")
      .filter((line) => !line.startsWith("npm warn") && !line.startsWith("npm notice"));
    expect(output.length).toBeGreaterThan(0);
    expect(shorten(printed, output)).toEqual(output);
  });

  const examples = blocks.filter(({ language }) => language === "ts");

  test("has examples in TypeScript", () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  test.each(examples)("has an example that prints what it says: $code", ({ code, end }) => {
    const expected = /^\s*```text\n([\s\S]*?)^```$/m.exec(readme.slice(end))?.[1];
    writeFileSync(join(project, "example.ts"), code);
    const { stdout, stderr } = run(process.execPath, ["example.ts"], project);
    expect({ stdout, stderr }).toEqual({ stdout: expected, stderr: "" });
  });

  test("names only files that exist", () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1] ?? "");
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect(() => readFileSync(link)).not.toThrow();
  });
});

/** The lines after `$ ` are commands; what follows each is what it prints. */
function toCommands({ code }: { readonly code: string }) {
  return code
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...output] = part.trimEnd().split("\n");
      return { command, output: output.map((line) => line.trimEnd()) };
    });
}

/** What was printed, with the lines that `output` leaves out at an … left out too. */
function shorten(printed: readonly string[], output: readonly string[]): string[] {
  const shown: string[] = [];
  let at = 0;
  for (const [index, line] of output.entries()) {
    if (line !== "…") {
      shown.push((printed[at] ?? "(nothing more)").trimEnd());
      at += 1;
      continue;
    }
    shown.push(line);
    const next = printed.findIndex(
      (text, place) => place >= at && text.trimEnd() === output[index + 1],
    );
    at = next === -1 ? printed.length : next;
  }
  return at < printed.length ? [...shown, ...printed.slice(at)] : shown;
}

function strata(...words: string[]) {
  return run(join(project, "node_modules", ".bin", "strata"), words, project);
}

function run(command: string, args: readonly string[], cwd: string) {
  const env = { ...process.env, STRATA_DATA_DIR: join(project, "data") };
  const { stdout, stderr, status } = spawnSync(command, args, { cwd, encoding: "utf8", env });
  return { stdout, stderr, status };
}
