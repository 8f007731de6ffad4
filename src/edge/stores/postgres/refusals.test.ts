// What a user reads when the server refuses a connection or a write.
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../../../harness/postgres.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { openPostgres } from "./open-postgres.ts";
import { content, openMigrated, withClient } from "./test-kit.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});

afterAll(() => server?.stop());

/** The error, after checking that the password is nowhere in it. */
async function failureOf(work: Promise<unknown>, url: string): Promise<StrataError> {
  const error = await work.then(
    () => new Error("nothing failed"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof StrataError)) throw error;
  const all = [error.message, error.hint, error.stack, String(error.cause)].join("\n");
  expect(all).not.toContain(new URL(url).password || "no password");
  return error;
}

function changed(change: (url: URL) => void): string {
  const url = new URL(server.url());
  change(url);
  return url.href;
}

const opening: Readonly<
  Record<string, { change: (url: URL) => void; code: string; message: RegExp }>
> = {
  "a wrong password": {
    change: (url) => (url.password = "not-the-password"),
    code: "config-invalid",
    message:
      /^the ledger postgres on 127\.0\.0\.1:\d+ refused the password: password authentication failed for user "strata" \(28P01\)$/,
  },
  "no password": {
    change: (url) => (url.password = ""),
    code: "config-invalid",
    message: /asks for a password: SASL/,
  },
  "an unknown user": {
    change: (url) => (url.username = "nobody"),
    code: "config-invalid",
    message: /refused the password: password authentication failed for user "nobody"/,
  },
  "an unknown database": {
    change: (url) => (url.pathname = "/nowhere"),
    code: "config-invalid",
    message:
      /^the ledger nowhere on .* does not exist: database "nowhere" does not exist \(3D000\)$/,
  },
  "a port without a server": {
    change: (url) => (url.port = "1"),
    code: "store-unavailable",
    message: /cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1 \(ECONNREFUSED\)$/,
  },
  "an unknown host": {
    change: (url) => (url.hostname = "nowhere.invalid"),
    code: "store-unavailable",
    message: /^the ledger postgres on nowhere\.invalid:\d+ cannot be reached: /,
  },
  "encryption the server does not offer": {
    change: (url) => (url.search = "?sslmode=verify-full"),
    code: "config-invalid",
    message: /cannot be reached over an encrypted connection: The server does not support SSL/,
  },
  "a certificate that is not there": {
    change: (url) => (url.search = "?sslrootcert=/no/such/file"),
    code: "config-invalid",
    message: /^the connection string of the ledger cannot be used: ENOENT/,
  },
};

test.each(Object.entries(opening))(
  "%s is reported immediately",
  async (_name, { change, ...expected }) => {
    const url = changed(change);
    const { code, message } = await failureOf(openPostgres({ url }), url);
    expect(code).toBe(expected.code);
    expect(message).toMatch(expected.message);
  },
);

test("a user who may not create tables gets an error that says so", async () => {
  const url = await server.createDatabase();
  await withClient(url, (client) =>
    client.query("CREATE ROLE guest LOGIN PASSWORD 'guest-password'"),
  );
  const guest = changed((each) => {
    each.pathname = new URL(url).pathname;
    each.username = "guest";
    each.password = "guest-password";
  });
  const { code, message } = await failureOf(openMigrated(guest), guest);
  expect(code).toBe("store-unavailable");
  expect(message).toMatch(
    /denies this user a permission: permission denied for schema public \(42501\)$/,
  );
});

test("a server without a connection left is reported as such", async () => {
  await withClient(server.url(), (client) =>
    client.query("CREATE ROLE few LOGIN PASSWORD 'few-password' CONNECTION LIMIT 1"),
  );
  const few = changed((each) => {
    each.username = "few";
    each.password = "few-password";
  });
  const { code, message } = await withClient(few, () => failureOf(openPostgres({ url: few }), few));
  expect(code).toBe("store-unavailable");
  expect(message).toMatch(/has no connection left: too many connections for role "few" \(53300\)$/);
});

test("a database that is read-only is reported as such", async () => {
  const url = await server.createDatabase();
  await (await openMigrated(url)).close();
  const name = new URL(url).pathname.slice(1);
  await withClient(url, (client) =>
    client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`),
  );
  const database = await openPostgres({ url });
  const writing = database.commit({ guards: [], writes: [content("never")] });
  const { code, message } = await failureOf(writing, url);
  expect(code).toBe("store-unavailable");
  expect(message).toMatch(
    /is read-only: cannot execute SELECT in a read-only transaction \(25006\)$/,
  );
  await database.close();
});

test("a database that cannot hold every character is not used", async () => {
  await withClient(server.url(), (client) =>
    client.query("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0"),
  );
  const url = server.url("bytes");
  const { code, message } = await failureOf(openPostgres({ url }), url);
  expect(code).toBe("environment-unfit");
  expect(message).toMatch(
    /^the ledger bytes on .* stores text as SQL_ASCII, which does not have every character$/,
  );
});

test("a text with a zero character is refused", async () => {
  const url = await server.createDatabase();
  const database = await openMigrated(url);
  const rows = [{ hash: "h", text: "a\u0000b" }];
  const writing = database.commit({ guards: [], writes: [{ into: "contents", rows }] });
  expect((await failureOf(writing, url)).code).toBe("input-invalid");
  await database.close();
});

test("a server that does not wait for its disk is reported", async () => {
  const problems: string[] = [];
  const url = server.url();
  const database = await openPostgres({ url, onProblem: ({ message }) => problems.push(message) });
  expect(problems).toEqual([
    expect.stringMatching(/may lose acknowledged data in a power cut: fsync is off on the server$/),
  ]);
  await database.close();
});

test("commits wait for the disk, also for a user who switched that off", async () => {
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  await withClient(url, (client) =>
    client.query(`ALTER DATABASE ${name} SET synchronous_commit = off`),
  );
  const database = await openPostgres({ url });
  expect(
    await database.query(
      "SELECT current_setting('synchronous_commit') AS durable, current_setting('idle_in_transaction_session_timeout') AS idle",
    ),
  ).toEqual([{ durable: "on", idle: "30s" }]);
  await database.close();
});

test("a connection whose settings cannot be made is not used", async () => {
  const url = await server.createDatabase();
  await withClient(url, async (client) => {
    await client.query(
      "CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'no settings today'; END $$",
    );
    await client.query("CREATE ROLE odd LOGIN PASSWORD 'odd-password'");
    await client.query("ALTER ROLE odd SET search_path = public, pg_catalog");
  });
  const odd = changed((each) => {
    each.pathname = new URL(url).pathname;
    each.username = "odd";
    each.password = "odd-password";
  });
  const { message } = await failureOf(openPostgres({ url: odd }), odd);
  expect(message).toMatch(/refused a statement: no settings today \(P0001\)$/);
});
