// read: a text file, or some lines of it.
import { ToolError, type ToolInput } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { toObjectDefinition, pathOf, type ScopedTool } from "../scoped-tool.ts";
import { showPath } from "./show-path.ts";
import { readText } from "./text-file.ts";

/** The limit of one result. Below the dispatcher's limit. */
const bytesMax = 40_000;
const linesDefault = 2000;

export function readTool(workspace: ScopedFiles): ScopedTool {
  return {
    definition: toObjectDefinition(
      "read",
      "Reads a text file of the workspace, exactly as it is. Long files are shown in parts: the last line of the result says how to go on.",
      {
        path: { type: "string", minLength: 1, description: "Relative to the workspace." },
        offset: { type: "integer", minimum: 1, description: "First line, from 1." },
        limit: { type: "integer", minimum: 1, description: `How many lines; ${linesDefault}.` },
        column: {
          type: "integer",
          minimum: 1,
          description:
            "First character of the first line, for lines that are too long for one result.",
        },
      },
      ["path"],
    ),
    needs: ["files.read"],
    sideEffects: "read",
    requiresWorkspace: true,
    pathsOf: pathOf,
    run: async (input) => {
      const path = String(input["path"]);
      const text = await readText(workspace, path);
      return { text: showLines(text, toRange(input), showPath(workspace.nameOf(path))) };
    },
  };
}

interface LineRange {
  readonly offset: number;
  readonly limit: number;
  readonly column: number;
}

function toRange(input: ToolInput): LineRange {
  const number = (name: string, otherwise: number): number => {
    const value = input[name];
    return typeof value === "number" ? value : otherwise;
  };
  const limit = number("limit", linesDefault);
  return { offset: number("offset", 1), column: number("column", 1), limit };
}

function showLines(text: string, { offset, limit, column }: LineRange, name: string): string {
  if (text === "") return `[${name} is empty]`;
  if (text.trim() === "") return describeBlank(text, name);
  const lines = text.split("\n");
  // The text after the last line end is not a line.
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (offset > count) {
    throw new ToolError(
      "validation_error",
      `${name} has ${count} lines; there is no line ${offset}`,
    );
  }
  const end = Math.min(count, offset - 1 + limit);
  const wanted = lines.slice(offset - 1, end);
  const width = wanted[0]?.length ?? 0;
  if (column > 1 && column > width) {
    throw new ToolError(
      "validation_error",
      `line ${offset} of ${name} has ${width} characters; there is no column ${column}`,
    );
  }
  wanted[0] = (wanted[0] ?? "").slice(column - 1);
  const shown: string[] = [];
  let room = bytesMax;
  for (const line of wanted) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const next = offset + shown.length;
  if (shown.length === 0) return showStart(wanted[0] ?? "", offset, column);
  if (next > count && offset === 1 && column === 1) return text;
  const where = `[lines ${offset} to ${next - 1} of ${count}`;
  const rest = next > count ? "]" : `; go on with offset ${next}]`;
  return `${shown.join("\n")}\n${where}${rest}`;
}

/** White space alone would look like an empty file. */
function describeBlank(text: string, name: string): string {
  const shown = text.length <= 200 ? JSON.stringify(text) : `${text.length} characters`;
  return `[${name} holds white space and nothing else: ${shown}]`;
}

/** For a line that is longer than a result. */
function showStart(line: string, offset: number, column: number): string {
  // A code unit takes at most three bytes.
  const fitting = line.slice(0, Math.floor(bytesMax / 3));
  const end = isHalf(fitting) ? fitting.length - 1 : fitting.length;
  const where = `line ${offset} goes on for ${line.length - end} characters`;
  return `${line.slice(0, end)}\n[${where}: read them with offset ${offset}, column ${column + end}]`;
}

function isHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
