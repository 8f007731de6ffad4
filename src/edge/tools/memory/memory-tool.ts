// The memory tool of Claude models on the two files of memory: their caps, their locks and their undo hold for it, too.
import type { ContentHash } from "../../../core/hash.ts";
import { memoryCaps, memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import {
  fileOfMemoryPath,
  memoryCommands,
  memoryRoot,
  memoryToolDefinition,
  toMemoryPath,
  type MemoryCommand,
} from "../../../core/memory/memory-tool.ts";
import { metadataOf, type MemoryWrite } from "../../../core/memory/memory-write.ts";
import { describeWarnings } from "../../../core/memory/scan-memory.ts";
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
  type ToolOutput,
} from "../../../core/tools/tool.ts";
import type { MemoryContent, MemoryOutcome, MemoryStore } from "../../files/memory/memory-store.ts";
import { textOf } from "../scoped-tool.ts";
import {
  createKnowledge,
  emitEvents,
  isShownWhole,
  requireStore,
  requireVisible,
  toToolError,
  type MemoryToolsOptions,
} from "./memory-use.ts";

/** Without a store the tool exists and says that there is no memory. */
export function memoryTool(
  store: MemoryStore | null,
  { emit, scope = "main", refusalBytesMax = 16_384 }: MemoryToolsOptions = {},
): Tool {
  const knowledge = createKnowledge(store);
  return {
    definition: memoryToolDefinition,
    from: "strata",
    needs: ["memory.write"],
    roles: ["manager", "unified"],
    sideEffects: "write",
    requiresWorkspace: true,
    run: (input, call) => {
      const command = commandOf(input);
      knowledge.take(call);
      const memory = requireStore(store);
      const fileAt = (field: string): MemoryFile =>
        requireVisible(fileOf(textOf(input, field)), scope);
      const settle = (outcome: MemoryOutcome): ToolOutput => {
        if (outcome.kind !== "refused") {
          const isAll =
            outcome.kind === "unchanged" || emitEvents(outcome.write, call, emit) === "all";
          return toOutput(outcome, isAll);
        }
        const { file, refusal } = outcome;
        // A text that the refusal shows completely counts as seen.
        if (refusal.kind === "changed-meanwhile" && isShownWhole(refusal, refusalBytesMax)) {
          memory.markSeen(file, refusal.currentHash);
        }
        throw toToolError(outcome, refusalBytesMax);
      };
      const seenHash = (file: MemoryFile): ContentHash | null => knowledge.of(file, call);
      return runs[command]({ memory, input, call, scope, fileAt, settle, seenHash });
    },
  };
}

interface Use extends Required<Pick<MemoryToolsOptions, "scope">> {
  readonly memory: MemoryStore;
  readonly input: ToolInput;
  readonly call: ToolCallContext;
  /** The file that the path in a field names. */
  readonly fileAt: (field: string) => MemoryFile;
  readonly settle: (outcome: MemoryOutcome) => ToolOutput;
  /** What the session had seen of a file when its reply was made. */
  readonly seenHash: (file: MemoryFile) => ContentHash | null;
}

const runs: Readonly<Record<MemoryCommand, (use: Use) => Promise<ToolOutput>>> = {
  view,
  create,
  str_replace: async ({ memory, input, call: { signal }, fileAt, settle }) =>
    settle(
      await memory.replace(
        fileAt("path"),
        textOf(input, "old_str"),
        // Without a new text, the old one is removed.
        input["new_str"] === undefined ? "" : textOf(input, "new_str"),
        { signal },
      ),
    ),
  insert,
  delete: async (use) => {
    const { memory, fileAt, settle } = use;
    const { file, text } = await memory.peek(fileAt("path"));
    if (text === "") throw missing(file);
    return settle(await empty(use, file, use.seenHash(file)));
  },
  rename,
};

async function view({ memory, input, scope, fileAt }: Use): Promise<ToolOutput> {
  if (isRoot(textOf(input, "path"))) return viewFolder(memory, scope);
  const { file, text, hash } = await memory.peek(fileAt("path"));
  if (text === "") throw missing(file);
  const lines = linesOf(text);
  const [first, last] = rangeOf(input["view_range"], lines.length);
  if (first === 1 && last === lines.length) memory.markSeen(file, hash);
  const numbered = lines
    .slice(first - 1, last)
    .map((each, index) => `${String(first + index).padStart(6)}\t${each}`);
  return {
    text: [`${toMemoryPath(file)}, with the numbers of its lines:`, ...numbered].join("\n"),
  };
}

async function viewFolder(memory: MemoryStore, scope: Use["scope"]): Promise<ToolOutput> {
  const visible = memoryFiles.filter((file) => scope === "main" || file !== "MEMORY.md");
  const contents = await Promise.all(visible.map((file) => memory.peek(file)));
  const lines = contents.map(
    ({ file, sizeBytes }) =>
      `${toMemoryPath(file)}: ${sizeBytes === 0 ? "empty" : `${sizeBytes} bytes`}, at most ${memoryCaps[file].hardBytes}`,
  );
  return { text: lines.join("\n") };
}

async function create({ memory, input, call, fileAt, settle }: Use): Promise<ToolOutput> {
  const [file, text] = [fileAt("path"), textOf(input, "file_text")];
  // As one that has seen nothing: a text that is there is refused, and shown.
  return settle(await memory.consolidate(file, text, { signal: call.signal, seenHash: null }));
}

/** The line was counted in the text that the session has seen, so only that text is changed. */
async function insert(use: Use): Promise<ToolOutput> {
  const { memory, input, fileAt, settle } = use;
  const [line, added] = [input["insert_line"], textOf(input, "insert_text")];
  const { file, text, hash } = await memory.peek(fileAt("path"));
  const lines = linesOf(text);
  if (typeof line !== "number" || !Number.isInteger(line) || line < 0 || line > lines.length) {
    throw new ToolError(
      "validation_error",
      `\`insert_line\` must be a whole number from 0 to ${lines.length}, the last line of ${toMemoryPath(file)}`,
    );
  }
  if (added.trim() === "") throw new ToolError("validation_error", "`insert_text` is blank");
  const isSeen = text === "" || use.seenHash(file) === hash;
  const changed = [
    ...lines.slice(0, line),
    added.replace(/\n$/, ""),
    ...lines.slice(line),
    "",
  ].join("\n");
  const { signal } = use.call;
  return settle(
    await memory.consolidate(file, changed, { signal, seenHash: isSeen ? hash : null }),
  );
}

/** The text is in the new place before it leaves the old one. */
async function rename(use: Use): Promise<ToolOutput> {
  const { memory, fileAt, settle, call } = use;
  const [from, to] = [fileAt("old_path"), fileAt("new_path")];
  if (from === to)
    throw new ToolError("validation_error", "`old_path` and `new_path` are the same");
  const { text, hash } = await memory.peek(from);
  if (text === "") throw missing(from);
  const { signal } = call;
  const written = settle(await memory.consolidate(to, text, { signal, seenHash: null }));
  const emptied = settle(await empty(use, from, hash));
  const filesModified = [...(written.filesModified ?? []), ...(emptied.filesModified ?? [])];
  return {
    text: `${written.text} ${emptied.text}`,
    filesModified,
    metadata: { moved: [written.metadata, emptied.metadata] },
  };
}

/** The command says that all of it may go, and undo brings it back. */
function empty(
  { memory, call: { signal } }: Use,
  file: MemoryFile,
  seenHash: ContentHash | null,
): Promise<MemoryOutcome> {
  return memory.consolidate(file, "", { signal, seenHash, isDropConfirmed: true });
}

function commandOf(input: ToolInput): MemoryCommand {
  const command = memoryCommands.find((each) => each === input["command"]);
  if (command !== undefined) return command;
  throw new ToolError(
    "validation_error",
    `\`command\` must be one of ${memoryCommands.join(", ")}`,
  );
}

function isRoot(path: string): boolean {
  return path === memoryRoot || path === `${memoryRoot}/`;
}

function fileOf(path: string): MemoryFile {
  const file = fileOfMemoryPath(path);
  if (file !== null) return file;
  throw new ToolError(
    "not_found",
    `${JSON.stringify(path)} is no place for memory: it has two files, /memories/MEMORY.md (facts about this workspace) and /memories/USER.md (facts about the user), and takes no others`,
  );
}

function missing(file: MemoryContent["file"]): ToolError {
  return new ToolError("not_found", `${toMemoryPath(file)} is empty; \`create\` writes it`);
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Both ends count; an end of -1 is the last line. */
function rangeOf(given: unknown, count: number): readonly [first: number, last: number] {
  if (given === undefined || given === null) return [1, count];
  const [first, end, ...more]: readonly unknown[] = Array.isArray(given) ? given : [];
  const last = end === -1 ? count : end;
  if (typeof first === "number" && typeof last === "number" && more.length === 0) {
    if (first >= 1 && first <= count && last >= first) return [first, Math.min(last, count)];
  }
  throw new ToolError(
    "validation_error",
    `\`view_range\` must be [first, last] within the lines 1 to ${count}; -1 is the last line`,
  );
}

function toOutput(
  { kind, write, path, notes }: Exclude<MemoryOutcome, { readonly kind: "refused" }>,
  isAllEmitted: boolean,
): ToolOutput {
  return {
    text: [describe(write), ...notes].join(" "),
    filesModified: kind === "written" ? [path] : [],
    metadata: {
      ...metadataOf(write),
      ...(notes.length === 0 ? {} : { notes }),
      ...(isAllEmitted ? {} : { events_not_taken: true }),
    },
  };
}

function describe({ file, beforeHash, afterHash, ...write }: MemoryWrite): string {
  const { afterSizeBytes, isOverSoftCap, isMerged, warnings } = write;
  const path = toMemoryPath(file);
  if (beforeHash === afterHash) return `${path} is as it was: ${afterSizeBytes} bytes.`;
  const { softBytes, hardBytes } = memoryCaps[file];
  const size = afterSizeBytes === 0 ? "is empty now" : `has ${afterSizeBytes} bytes now`;
  return [
    `${path} ${size}.`,
    ...(isOverSoftCap
      ? [`That is over ${softBytes}, and at most ${hardBytes} are taken: shorten it.`]
      : []),
    ...(isMerged ? ["It was changed elsewhere meanwhile; those changes are kept."] : []),
    ...(warnings.length === 0 ? [] : [describeWarnings(warnings)]),
  ].join(" ");
}
