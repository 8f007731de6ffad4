// A client of the API for pages and programs: typed by the route table, and without any import but its types.
import { apiBase, places, type ApiRoutes } from "./answers.ts";

export interface ApiClient {
  /** The answer, or why there is none. Never rejects. */
  ask<Name extends keyof ApiRoutes>(
    name: Name,
    ...given: Given<ApiRoutes[Name]>
  ): Promise<ApiResult<ApiRoutes[Name]["answer"]>>;
}

interface AnyRoute {
  readonly path: object | undefined;
  readonly query: object | undefined;
  readonly body: object | undefined;
}

/** What a route takes; nothing to give where it takes nothing. */
type Given<Route extends AnyRoute> = Route["path"] extends undefined
  ? [options?: Options<Route>]
  : [options: Options<Route> & { readonly path: Route["path"] }];

interface Options<Route extends AnyRoute> {
  readonly path?: Route["path"];
  readonly query?: Route["query"];
  readonly body?: Route["body"];
  readonly signal?: AbortSignal;
}

export type ApiResult<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "refused"; readonly status: number; readonly error: ApiFailure };

export interface ApiFailure {
  /** One of the documented codes, or `unreachable` if no answer came that is one of the API's. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface ClientOptions {
  /** The server's address, without a slash at the end; empty for the page's own. */
  readonly url?: string;
  /** A page needs none: its cookie is sent by itself. */
  readonly token?: string;
}

export function createClient({ url = "", token }: ClientOptions = {}): ApiClient {
  return {
    ask: async (name, ...[options = {}]) => {
      const [method, path] = places[name];
      const { query, body, signal } = options;
      const request = {
        method,
        headers: {
          accept: "application/json",
          ...(token === undefined ? {} : { "x-strata-token": token }),
          ...(method === "POST" ? { "content-type": "application/json" } : {}),
        },
        ...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
        ...(signal === undefined ? {} : { signal }),
      };
      return send(`${url}${apiBase}${placed(path, options.path)}${toSearch(query)}`, request);
    },
  };
}

async function send<Answer>(url: string, request: RequestInit): Promise<ApiResult<Answer>> {
  try {
    const response = await fetch(url, request);
    const value: unknown = await response.json();
    // The server's answers are made from the same table as the types.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    if (response.ok) return { kind: "answer", answer: value as Answer };
    return { kind: "refused", status: response.status, error: toFailure(value, response.status) };
  } catch (error) {
    return { kind: "refused", status: 0, error: unreachable(error) };
  }
}

function toFailure(value: unknown, status: number): ApiFailure {
  const error = membersOf(membersOf(value)["error"]);
  const { code, message, hint } = error;
  if (typeof code === "string" && typeof message === "string") {
    return { code, message, hint: typeof hint === "string" ? hint : "" };
  }
  return {
    code: "unreachable",
    message: `the server answered ${status}, and not as Strata does`,
    hint: "check the address",
  };
}

function unreachable(error: unknown): ApiFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return {
    code: "unreachable",
    message: `no answer came: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "check the address, and that strata serve runs there",
  };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function placed(path: string, parts: object | undefined): string {
  const values = membersOf(parts);
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(values[name])),
  );
}

function toSearch(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(membersOf(query))) {
    if (typeof value === "string" || typeof value === "number") search.set(name, `${value}`);
  }
  return search.size === 0 ? "" : `?${search.toString()}`;
}
