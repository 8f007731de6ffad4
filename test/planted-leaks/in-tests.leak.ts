// Every way out that a test process can see, each with a leak. All of these tests pass by themselves.
import { execFileSync, execSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { plantedKey, plantedPassword, plantedToken } from "../../harness/planted-key.ts";
import { createTestIo } from "../../src/cli/test-kit.ts";
import { StrataError } from "../../src/core/strata-error.ts";

const print = `console.log(process.env.PLANTED_ACCESS_TOKEN)`;

test("console", () => {
  expect(console.log("the key is", plantedKey)).toBeUndefined();
});

test("stream in pieces", () => {
  const middle = plantedToken.length - 12;
  expect(process.stderr.write(plantedToken.slice(middle, middle + 6))).toBe(true);
  process.stderr.write(plantedToken.slice(middle + 6));
});

test("command in this process", () => {
  const { io, said } = createTestIo();
  io.error(`api_key: ${plantedKey}\n`);
  expect(said.error).not.toBe("");
});

test("process", async () => {
  const child = spawn(process.execPath, ["-e", print]);
  const heard = once(child.stdout, "data");
  await once(child, "close");
  expect(String(await heard)).toContain(plantedToken);
});

test("process that is waited for", () => {
  expect(spawnSync(process.execPath, ["-e", print]).status).toBe(0);
  expect(execFileSync(process.execPath, ["-e", print], { encoding: "utf8" })).not.toBe("");
});

test("process that fails", () => {
  expect(() => execSync("echo $PLANTED_ACCESS_TOKEN >&2; exit 1", { stdio: "pipe" })).toThrow(
    "failed",
  );
});

test("process that shares our output", () => {
  expect(spawnSync("echo $PLANTED_ACCESS_TOKEN", { shell: true, stdio: "inherit" }).status).toBe(0);
});

test("removed folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "leak-"));
  writeFileSync(join(folder, "ledger.db"), `x${Buffer.from(plantedPassword).toString("base64")}`);
  writeFileSync(join(folder, "strata.yaml"), `api_key: ${plantedKey}`);
  rmSync(folder, { recursive: true });
  expect(existsSync(folder)).toBe(false);
});

const late = await mkdtemp(join(tmpdir(), "leak-"));
afterAll(() => rm(late, { recursive: true }));

test("folder removed at the end of the file", async () => {
  const page = join(late, "page.html");
  await writeFile(page, JSON.stringify({ url: encodeURIComponent(plantedPassword) }));
  expect(existsSync(page)).toBe(true);
});

test("row", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE events (payload TEXT)");
  const insert = database.prepare("INSERT INTO events VALUES (?)");
  expect(insert.run(`{"detail":"bad key ${plantedKey}"}`).changes).toBe(1);
  database.close();
});

test("error", () => {
  const cause = new Error(`connect ${plantedToken}`);
  expect(() => {
    throw new StrataError("config-invalid", "no connection", "try again", { cause });
  }).toThrow("no connection");
  expect(new StrataError("usage", "unknown", `not ${plantedKey}`).code).toBe("usage");
});

test("answer and request", async () => {
  const server = createServer((request, response) => {
    response.end(`you are ${String(request.headers["x-api-key"])}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?key=${plantedToken}`;
  const headers = { "x-api-key": plantedKey };
  const answer = await fetch(url, { method: "POST", headers, body: Buffer.from(plantedToken) });
  expect(answer.status).toBe(200);
  server.close();
});
