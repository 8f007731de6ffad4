// Files as text: their exact content, or the reason why they are not text.
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { showPath } from "./show-path.ts";

/** Larger files are refused. */
export const fileBytesMax = 10_000_000;

/** Throws a `ToolError` for a file that is missing, too large, or not text. */
export async function readText(
  workspace: ScopedFiles,
  path: string,
  bytesMax: number = fileBytesMax,
): Promise<string> {
  const file = await workspace.readFile(path, { bytesMax });
  const shown = showPath(workspace.nameOf(path));
  if (file === null) throw new ToolError("not_found", `there is no file ${shown}`);
  if (file.size > bytesMax) {
    const hint = "search it with grep";
    const size = `${file.size} bytes long; at most ${bytesMax} are read`;
    throw new ToolError("validation_error", `${shown} is ${size}: ${hint}`);
  }
  const text = decodeText(file.bytes);
  if (text !== null) return text;
  throw new ToolError("validation_error", `${shown} is not text: ${describeBinary(file.bytes)}`);
}

/** Null if it is not UTF-8 or contains a zero byte. Keeps a byte order mark. */
function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function describeBinary(bytes: Uint8Array): string {
  const zero = bytes.indexOf(0);
  const size = `${bytes.length} bytes`;
  return zero === -1 ? `${size} that are not UTF-8` : `${size} with a zero byte at ${zero}`;
}
