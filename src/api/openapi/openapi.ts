// The route table as an OpenAPI 3.1 document.
import packageJson from "../../../package.json" with { type: "json" };
import { apiErrors, type ApiErrorCode } from "../answer/api-error.ts";
import { errorBody } from "../routes/envelope.ts";
import { parameters, type ParameterName } from "../routes/parameters.ts";
import type { Route } from "../routes/route.ts";
import type { Schema } from "../routes/schema.ts";

/** What any route can answer besides its own codes. */
export const commonErrors: readonly ApiErrorCode[] = [
  "invalid_parameter",
  "token_required",
  "foreign_host",
  "foreign_origin",
  "too_busy",
  "internal",
];

export function toOpenApi(routes: readonly Route[], base: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = `${base}${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Strata",
      version: packageJson.version,
      description: "What was sent to models, read from caches, spent, saved and lost.",
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, { bearer: [] }, { login: [] }],
    paths,
    components: {
      schemas: { Error: errorBody },
      securitySchemes: {
        token: { type: "apiKey", in: "header", name: "x-strata-token" },
        bearer: { type: "http", scheme: "bearer" },
        login: { type: "apiKey", in: "cookie", name: "strata_login" },
      },
    },
  };
}

function toOperation(route: Route): object {
  const { name, summary, query, takes, answer } = route;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, part = ""]) => ({
    name: part,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = query.map((each) => ({
    name: each,
    in: "query",
    description: parameters[each].meaning,
    schema: schemaOf(each, route),
  }));
  return {
    operationId: name,
    summary,
    ...(name === "login" ? { security: [] } : {}),
    parameters: [...inPath, ...inQuery],
    ...(takes === undefined ? {} : { requestBody: { required: false, content: json(takes) } }),
    responses: {
      200: { description: "The answer", content: { [mediaOf(route)]: { schema: answer } } },
      ...errorsOf(route),
    },
  };
}

/** With the values that the parameter can have on this route. */
function schemaOf(name: ParameterName, { values }: Route): Schema & { readonly default?: string } {
  const known = values?.[name];
  if (known === undefined) return parameters[name].schema;
  const fallback = known[0] === undefined ? {} : { default: known[0] };
  // A direction may follow the name of a figure.
  return name === "order"
    ? { type: "string", pattern: `^(?:${known.join("|")})(?::asc|:desc)?$`, ...fallback }
    : { type: "string", enum: known, ...fallback };
}

function mediaOf({ answer }: Route): string {
  return answer.type === "string" ? "text/event-stream" : "application/json";
}

function json(schema: object): object {
  return { "application/json": { schema } };
}

/** One response per status, with the codes that it can have. */
function errorsOf(route: Route): Readonly<Record<string, object>> {
  const codes = codesOf(route);
  const byStatus = Map.groupBy(codes, (code) => apiErrors[code].status);
  const error = { $ref: "#/components/schemas/Error" };
  return Object.fromEntries(
    [...byStatus].map(([status, each]) => [
      String(status),
      {
        description: each.map((code) => `${code}: ${apiErrors[code].when}`).join("; "),
        content: json(error),
      },
    ]),
  );
}

export function codesOf({ errors, read, isForKeys, takes }: Route): readonly ApiErrorCode[] {
  return [
    ...errors,
    ...(read === undefined ? [] : (["store_unavailable"] as const)),
    ...(isForKeys === true ? [] : (["not_yours"] as const)),
    ...(takes === undefined ? [] : (["invalid_body", "body_too_large"] as const)),
    ...commonErrors,
  ];
}
