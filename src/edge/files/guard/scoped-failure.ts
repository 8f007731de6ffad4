// Turns system errors about a file into tool errors. The system's own messages contain paths that the model
// must not see.
import { ToolError } from "../../../core/tools/tool.ts";
import { spell } from "./scoped-path.ts";
import { isSystemError } from "../../stores/system-error.ts";

/** Runs the work. A system error becomes a `ToolError` that names the path as given. */
export async function withToolErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isSystemError(error) ? toToolError(path, error) : error;
  }
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}

/** Treats a missing entry as null. */
export function unlessMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

/**
 * Whether the error is about the path itself: outside, a link, a folder, not permitted. Other errors (no more
 * descriptors, a broken disk) may not happen next time.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof ToolError && error.errorClass !== "execution_error";
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(codeOf(error));
}

export function refusedSymlink(path: string): ToolError {
  return new ToolError(
    "permission_denied",
    `${spell(path)} is, or leads through, a symbolic link; links are not followed`,
  );
}

export function refusedKind(path: string): ToolError {
  return new ToolError("permission_denied", `${spell(path)} is neither a file nor a folder`);
}

export function refusedChange(path: string): ToolError {
  return new ToolError("permission_denied", `${spell(path)} was moved or replaced meanwhile`);
}

export function refusedWay(path: string): ToolError {
  return new ToolError("validation_error", `${spell(path)} leads through a file`);
}

export function notFound(path: string, what: "file" | "folder"): ToolError {
  return new ToolError("not_found", `there is no ${what} ${spell(path)}`);
}

export function isOther(path: string, what: "file" | "folder"): ToolError {
  return new ToolError("validation_error", `${spell(path)} is a ${what}`);
}

function toToolError(path: string, cause: unknown): ToolError {
  const code = codeOf(cause);
  switch (code) {
    case "ENOENT":
      return new ToolError("not_found", `there is no ${spell(path)}`, { cause });
    case "ELOOP":
      return refusedSymlink(path);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new ToolError("permission_denied", `${spell(path)} may not be touched (${code})`, {
        cause,
      });
    case "ENOTDIR":
      return refusedWay(path);
    case "ENOTEMPTY":
      return new ToolError("validation_error", `the folder ${spell(path)} is not empty`, { cause });
    case "ENAMETOOLONG":
      return new ToolError("validation_error", `${spell(path)} is too long`, { cause });
    case "ENOSPC":
    case "EDQUOT":
      return new ToolError("execution_error", `there is no room for ${spell(path)} (${code})`, {
        cause,
        isUserVisible: true,
      });
    default: {
      const problem = code === "" ? "" : ` (${code})`;
      return new ToolError("execution_error", `${spell(path)} cannot be used${problem}`, { cause });
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}
