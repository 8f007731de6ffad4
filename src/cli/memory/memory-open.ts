// Opens the memory of a workspace, and turns errors of the store into user errors.
import { parseMemoryFile, type MemoryFile } from "../../core/memory/memory-file.ts";
import { StrataError, type StrataErrorCode } from "../../core/strata-error.ts";
import { ToolError, type ToolErrorClass } from "../../core/tools/tool.ts";
import { openMemoryStore, type MemoryStore } from "../../edge/files/memory/memory-store.ts";
import type { MemorySettings } from "../../engine/world/world-settings.ts";
import type { CommandInput, Io } from "../command.ts";
import { readConfigPlaces } from "../config/config-places.ts";
import { readWorldSettings } from "../../host/config/world-settings.ts";

/** Opens a store for this command, with the configured number of versions. */
export function useMemory(
  input: CommandInput,
  io: Pick<Io, "env">,
  work: (store: MemoryStore, settings: MemorySettings) => Promise<number>,
): Promise<number> {
  return atWorkspace(input, async (path) => {
    const { memory = {} } = await readWorldSettings(readConfigPlaces(input, io), io.env);
    const { journal } = memory;
    return work(await openMemoryStore(path, journal === undefined ? {} : { journal }), memory);
  });
}

export async function atWorkspace(
  input: CommandInput,
  work: (workspacePath: string) => Promise<number>,
): Promise<number> {
  try {
    return await work(input.values.get("workspace") ?? process.cwd());
  } catch (error) {
    throw error instanceof ToolError ? toStrataError(error) : error;
  }
}

export function fileOf(input: CommandInput): MemoryFile {
  return parseMemoryFile(input.operands[0] ?? "");
}

/** Null for all files. */
export function optionalFileOf(input: CommandInput): MemoryFile | null {
  const [name] = input.operands;
  return name === undefined ? null : parseMemoryFile(name);
}

const codes: Readonly<Partial<Record<ToolErrorClass, StrataErrorCode>>> = {
  not_found: "not-found",
  validation_error: "input-invalid",
  permission_denied: "input-invalid",
};

function toStrataError(error: ToolError): StrataError {
  return new StrataError(
    codes[error.errorClass] ?? "environment-unfit",
    error.message,
    "strata memory show prints the memory; --workspace chooses another folder",
    { cause: error },
  );
}
