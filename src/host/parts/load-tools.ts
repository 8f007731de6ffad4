// The tools of an agent's own module. The module is code of the user's: it is never loaded from where an agent may write.
import { pathToFileURL } from "node:url";
import { isObject } from "../../core/message/fields.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { isInside } from "../../edge/config/trusted-files.ts";
import type { ScopedTool } from "../../edge/tools/scoped-tool.ts";

/** `path`: absolute. A module is loaded once in a process; a change of it takes effect with the next start. */
export async function loadTools(path: string, workspace: string): Promise<readonly ScopedTool[]> {
  if (isInside(workspace, path)) {
    throw refused(
      path,
      "lies in the workspace, where an agent may write it",
      "move the module and what it imports out of the workspace",
    );
  }
  const { tools } = await load(path);
  const given: unknown = typeof tools === "function" ? await callIt(path, () => tools()) : tools;
  if (Array.isArray(given) && given.every(isTool)) return given;
  throw refused(
    path,
    "exports no tools",
    "export const tools = [defineTool({ … })], or a function that returns such a list",
  );
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  const loaded = await callIt(path, () => import(pathToFileURL(path).href));
  return isObject(loaded) ? { ...loaded } : {};
}

async function callIt(path: string, call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (cause) {
    throw refused(
      path,
      `cannot be loaded: ${messageOf(cause)}`,
      "run it with node to see why",
      cause,
    );
  }
}

function isTool(value: unknown): value is ScopedTool {
  return (
    isObject(value) &&
    typeof value["run"] === "function" &&
    isObject(value["definition"]) &&
    Array.isArray(value["needs"])
  );
}

function refused(path: string, why: string, hint: string, cause?: unknown): StrataError {
  const message = `the tools of the agent, ${path}: the module ${why}`;
  return new StrataError("config-invalid", message, hint, cause === undefined ? {} : { cause });
}
