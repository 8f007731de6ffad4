// Commands on memory: whose it is, and errors of the store as a person is told them.
import { parseMemoryFile, type MemoryFile } from "../../core/memory/memory-file.ts";
import { StrataError, type StrataErrorCode } from "../../core/strata-error.ts";
import { ToolError, type ToolErrorClass } from "../../core/tools/tool.ts";
import { openMemoryStore, type MemoryStore } from "../../edge/files/memory/memory-store.ts";
import type { MemorySettings } from "../../engine/world/world-settings.ts";
import type { CommandInput, Io } from "../command.ts";
import { readConfigPlaces } from "../config/config-places.ts";
import { readWorldSettings } from "../../host/world-settings.ts";

/** The store belongs to this command alone, and keeps as many versions as is configured. */
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

/** Null where all files are meant. */
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
    "strata memory show says what is there; --workspace names another folder",
    { cause: error },
  );
}
