// The route table as types for clients: what each route takes, and what it answers.
import { parameters, type ParameterName } from "../../src/api/routes/parameters.ts";
import type { Route } from "../../src/api/routes/route.ts";
import { apiBase, routes } from "../../src/api/routes/routes.ts";
import type { Schema } from "../../src/api/routes/schema.ts";

export function renderClientTypes(): string {
  return [
    "// Generated from src/api/routes by npm run fix. What each route takes and answers, without any import.",
    "// oxlint-disable max-lines",
    "",
    `export const apiBase = "${apiBase}";`,
    "",
    "/** The name of a figure, and a direction where it is not the usual one. */",
    'export type OrderBy<Name extends string> = Name | `${Name}:${"asc" | "desc"}`;',
    "",
    "/** By the name of the route. */",
    "export interface ApiRoutes {",
    ...routes.map((route) => `  readonly ${route.name}: ${typeOfRoute(route)};`),
    "}",
    "",
    ...routes.flatMap((route) => [
      `/** ${route.summary}. */`,
      `export type ${nameOf(route)} = ${typeOf(route.answer)};`,
      "",
    ]),
    "/** Method and path below the base, with `{name}` for a part that varies. */",
    "export const places: Readonly<",
    "  Record<keyof ApiRoutes, readonly [method: string, path: string]>",
    "> = {",
    ...routes.map(({ name, method, path }) => `  ${name}: ["${method}", "${path}"],`),
    "};",
    "",
  ].join("\n");
}

/** `cost` → `CostAnswer`. */
function nameOf({ name }: Route): string {
  const words = name.split("_").map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return `${words.join("")}Answer`;
}

function typeOfRoute(route: Route): string {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, part = ""]) => ({
    name: part,
    type: "string",
  }));
  const inQuery = route.query.map((name) => ({
    name,
    type: valuesOf(name, route),
    about: parameters[name].meaning,
    isOptional: true,
  }));
  const body = route.takes === undefined ? "undefined" : typeOf(route.takes, "    ");
  return block("  ", [
    { name: "path", type: inPath.length === 0 ? "undefined" : block("    ", inPath) },
    { name: "query", type: inQuery.length === 0 ? "undefined" : block("    ", inQuery) },
    { name: "body", type: body },
    { name: "answer", type: nameOf(route) },
  ]);
}

function valuesOf(name: ParameterName, { values }: Route): string {
  const known = values?.[name];
  if (known === undefined) return parameters[name].schema.type === "integer" ? "number" : "string";
  const names = known.map((each) => JSON.stringify(each)).join(" | ");
  return name === "order" ? `OrderBy<${names}>` : names;
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly about?: string | undefined;
  readonly isOptional?: boolean;
}

/** An object type, a member per line. */
function block(indent: string, members: readonly Member[]): string {
  if (members.length === 0) return "Readonly<Record<string, never>>";
  const lines = members.flatMap(({ name, type, about, isOptional = false }) => [
    ...(about === undefined ? [] : [`${indent}  /** ${about} */`]),
    `${indent}  readonly ${name}${isOptional ? "?" : ""}: ${type};`,
  ]);
  return ["{", ...lines, `${indent}}`].join("\n");
}

function typeOf(schema: Schema, indent = ""): string {
  const { type, enum: names } = schema;
  if (names !== undefined) return names.map((each) => JSON.stringify(each)).join(" | ");
  const types: readonly string[] = typeof type === "string" ? [type] : (type ?? []);
  return types.map((each) => typeNamed(each, schema, indent)).join(" | ") || "unknown";
}

function typeNamed(type: string, schema: Schema, indent: string): string {
  const { items = {}, properties, required = [], additionalProperties } = schema;
  if (type === "integer") return "number";
  if (type === "array") return `readonly (${typeOf(items, indent)})[]`;
  if (type !== "object") return type;
  if (properties === undefined) {
    const values =
      typeof additionalProperties === "object" ? typeOf(additionalProperties, indent) : "unknown";
    return `Readonly<Record<string, ${values}>>`;
  }
  return block(
    indent,
    Object.entries(properties).map(([name, member]) => ({
      name,
      type: typeOf(member, `${indent}  `),
      about: member.description,
      isOptional: !required.includes(name),
    })),
  );
}
