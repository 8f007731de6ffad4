// docs/http-api.md: the page about the API, with its routes from the table.
import { apiErrors } from "../../src/api/answer/api-error.ts";
import { codesOf, commonErrors } from "../../src/api/openapi/openapi.ts";
import { parameters } from "../../src/api/routes/parameters.ts";
import type { Route } from "../../src/api/routes/route.ts";
import { apiBase, routes } from "../../src/api/routes/routes.ts";
import { replacePart } from "../replace-part.ts";

export function refreshHttpApi(document: string): string {
  return replacePart(document, {
    page: "docs/http-api.md",
    source: "src/api/routes",
    part: "routes",
    text: renderRoutes(),
  });
}

function renderRoutes(): string {
  return [
    "### Errors of every route",
    "",
    ...renderErrors(commonErrors),
    "",
    ...routes.flatMap(renderRoute),
  ].join("\n");
}

function renderRoute(route: Route): string[] {
  const { method, path, summary, query } = route;
  const codes = codesOf(route).filter(
    (code) => !commonErrors.includes(code) && code !== "not_yours",
  );
  return [
    `### \`${method} ${apiBase}${path}\``,
    "",
    `${summary}.${route.isForKeys === true ? " A virtual key sees its own." : ""}`,
    "",
    ...query.map((name) => `- \`${name}\`: ${parameters[name].meaning}${valuesOf(name, route)}`),
    ...(query.length > 0 ? [""] : []),
    ...(codes.length > 0 ? [`Errors: ${codes.map((code) => `\`${code}\``).join(", ")}.`, ""] : []),
    "```sh",
    exampleOf(route),
    "```",
    "",
  ];
}

function valuesOf(name: (typeof routes)[number]["query"][number], { values }: Route): string {
  const known = values?.[name];
  return known === undefined ? "" : `; one of ${known.map((each) => `\`${each}\``).join(", ")}`;
}

function exampleOf({ method, example, exampleBody = "'{}'", isStream }: Route): string {
  const url = `"$STRATA_URL${apiBase}${example}"`;
  if (isStream === true) return `curl -sN --max-time 2 ${url}`;
  return method === "POST" ? `curl -s -X POST -d ${exampleBody} ${url}` : `curl -s ${url}`;
}

function renderErrors(codes: typeof commonErrors): string[] {
  return codes.map((code) => `- \`${code}\` (${apiErrors[code].status}): ${apiErrors[code].when}`);
}
