// The API on a ledger of the test's own, behind a plain HTTP server, and a check of answers against their schemas.
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect, onTestFinished } from "vitest";
import { openApi, type ApiOptions } from "../../src/api/open-api.ts";
import { errorBody } from "../../src/api/routes/envelope.ts";
import { apiBase, routes } from "../../src/api/routes/routes.ts";
import type { Schema } from "../../src/api/routes/schema.ts";

export interface TestApi {
  readonly url: string;
  /** Asks below the base, and checks that the answer has the form that the table promises. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Told>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Told>;
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Where what was opened is closed: after the test, or `afterAll` for what a file shares. */
type AtEnd = (close: () => Promise<void> | void) => void;

export function newFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-api-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function openTestApi(
  store: string,
  options: Partial<ApiOptions> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<TestApi> {
  const api = openApi({
    store,
    token: null,
    models: null,
    isEncrypted: false,
    onProblem: (problem) => expect.unreachable(problem),
    ...options,
  });
  const server = createServer((incoming, outgoing) => api.answer(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
    await api.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const ask = async (path: string, request: RequestInit): Promise<Told> => {
    const response = await fetch(`${url}${apiBase}${path}`, request);
    const text = await response.text();
    const body: unknown = text === "" ? null : JSON.parse(text);
    checkForm(request.method ?? "GET", path, response.status, body);
    return { status: response.status, headers: response.headers, body };
  };
  return {
    url,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body, headers = {}) =>
      ask(path, { method: "POST", body: JSON.stringify(body), headers }),
  };
}

const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
const compiled = new Map<Schema, ValidateFunction>();

/** Every answer is in its envelope, whoever asked for what. */
export function checkForm(method: string, path: string, status: number, body: unknown): void {
  if (status === 204 || status === 304 || method === "HEAD") return;
  const [plain = ""] = path.split("?");
  const route = routes.find(
    (each) =>
      each.method === method &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(plain),
  );
  const schema = status === 200 ? route?.answer : errorBody;
  if (schema === undefined) throw new Error(`no route answers ${method} ${path} with ${status}`);
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  if (!validate(body)) throw new Error(`${path}: ${ajv.errorsText(validate.errors)}`);
}
