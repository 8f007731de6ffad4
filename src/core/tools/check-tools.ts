// Registration rules: a unique name that every provider accepts, and a schema that every provider understands.
import { StrataError } from "../strata-error.ts";
import { readInputSchema, type InputSchema } from "./input-schema.ts";
import type { Tool } from "./tool.ts";

/** A tool with its parsed schema. */
export interface RegisteredTool<T extends Tool = Tool> {
  readonly tool: T;
  readonly schema: InputSchema;
}

/** The tools by name. Throws a `StrataError` that lists every problem. */
export function registerTools<T extends Tool>(
  tools: readonly T[],
): ReadonlyMap<string, RegisteredTool<T>> {
  const registered = new Map<string, RegisteredTool<T>>();
  const problems: string[] = [];
  for (const tool of tools) {
    const { name, description, inputSchemaJson } = tool.definition;
    const reading = readInputSchema(inputSchemaJson);
    if (!isToolName(name)) problems.push(`${JSON.stringify(name)} is no name for a tool`);
    if (registered.has(name)) problems.push(`there are two tools called ${name}`);
    if (description.trim() === "") problems.push(`the tool ${name} has no description`);
    for (const { path, problem } of reading.problems) {
      problems.push(`the schema of ${name}: ${path === "" ? "it" : path} ${problem}`);
    }
    registered.set(name, { tool, schema: reading.schema });
  }
  if (problems.length === 0) return registered;
  throw new StrataError(
    "input-invalid",
    problems.join("; "),
    "name each tool once with letters, digits, _ and -, and keep to the schema keywords of docs/tools.md",
  );
}

/** Names of our tools: what every provider accepts. */
export function isToolName(name: string): boolean {
  return /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(name);
}
