// The three tools with which an agent keeps its memory. Workers have none of them.
import type { PayloadOf } from "../../../core/events/event.ts";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import type { MemoryScope } from "../../../core/memory/memory-view.ts";
import {
  describeWrite,
  metadataOf,
  toMemoryEvents,
  type MemoryWrite,
} from "../../../core/memory/memory-write.ts";
import { toToolDefinition } from "../../../core/message/tool-definition.ts";
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
  type ToolOutput,
} from "../../../core/tools/tool.ts";
import type { MemoryOutcome, MemoryStore } from "../../files/memory/memory-store.ts";
import { createKnowledge, createQuestions } from "./memory-replies.ts";
import { isShownWhole, toToolError } from "./memory-tool-error.ts";

export interface MemoryToolsOptions {
  /** Adds session, turn and parent: the event in `followsFrom`, else that of the tool use. Returns the event's id. */
  readonly emit?: (event: MemoryEvent, call: ToolCallContext) => string | null;
  /** In a shared session MEMORY.md is neither shown nor written. */
  readonly scope?: MemoryScope;
  /**
   * Up to this size a refusal shows the whole file, which then counts as seen. Below the dispatcher's limit; 16
   * KiB.
   */
  readonly refusalBytesMax?: number;
}

export type MemoryEvent =
  | {
      readonly type: "memory.updated";
      readonly payload: PayloadOf<"memory.updated">;
      readonly followsFrom: null;
    }
  | {
      readonly type: "memory.eviction";
      readonly payload: PayloadOf<"memory.eviction">;
      /** The `memory.updated` of the same write, even if others are written concurrently. */
      readonly followsFrom: string | null;
    };

/** Without a store the tools exist and say that there is no memory. */
export function memoryTools(
  store: MemoryStore | null,
  { emit, scope = "main", refusalBytesMax = 16_384 }: MemoryToolsOptions = {},
): readonly Tool[] {
  const questions = createQuestions();
  const knowledge = createKnowledge(store);
  const toTool = (description: ToolDescription, write: Write): Tool => ({
    definition: toToolDefinition({
      name: description.name,
      description: description.text,
      inputSchema: schemaOf(description.properties),
    }),
    from: "strata",
    needs: ["memory.write"],
    roles: ["manager", "unified"],
    sideEffects: "write",
    requiresWorkspace: true,
    run: async (input, call) => {
      const file = fileOf(input);
      knowledge.take(call);
      const outcome = await write(requireStore(store), requireVisible(file, scope), input, call);
      if (outcome.kind === "refused") throw toToolError(outcome, refusalBytesMax);
      const emitted = outcome.kind === "written" ? emitEvents(outcome.write, call, emit) : "all";
      return toOutput(outcome, emitted);
    },
  });

  return [
    toTool(addDescription, (memory, file, input, { signal }) =>
      memory.addEntry(file, textOf(input, "entry"), { signal }),
    ),
    toTool(replaceDescription, (memory, file, input, { signal }) =>
      memory.replace(file, textOf(input, "old"), textOf(input, "new"), { signal }),
    ),
    toTool(consolidateDescription, async (memory, file, input, call) => {
      const content = textOf(input, "content");
      const isDropConfirmed = questions.isAnswer(file, content, call);
      const seenHash = knowledge.of(file, call);
      const { signal } = call;
      const outcome = await memory.consolidate(file, content, {
        isDropConfirmed,
        signal,
        seenHash,
      });
      if (outcome.kind !== "refused") return outcome;
      const { refusal } = outcome;
      if (refusal.kind === "drop-unconfirmed") questions.ask(file, content, call);
      // A text that the refusal shows completely counts as seen.
      if (refusal.kind === "changed-meanwhile" && isShownWhole(refusal, refusalBytesMax)) {
        memory.markSeen(file, refusal.currentHash);
      }
      return outcome;
    }),
  ];
}

type Write = (
  store: MemoryStore,
  file: MemoryFile,
  input: ToolInput,
  call: ToolCallContext,
) => Promise<MemoryOutcome>;

interface ToolDescription {
  readonly name: string;
  readonly text: string;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const fileSchema = { type: "string", enum: ["MEMORY.md", "USER.md"] } as const;

const addDescription: ToolDescription = {
  name: "memory_add",
  text: "Append one entry to MEMORY.md (facts about this workspace) or USER.md (facts about the user), to be remembered in later sessions. One fact in one line; what is there already is refused.",
  properties: { file: fileSchema, entry: { type: "string", minLength: 1 } },
};

const replaceDescription: ToolDescription = {
  name: "memory_replace",
  text: "Replace a text that occurs exactly once in MEMORY.md or USER.md, to correct a fact; with an empty `new` it is removed.",
  properties: { file: fileSchema, old: { type: "string" }, new: { type: "string" } },
};

const consolidateDescription: ToolDescription = {
  name: "memory_consolidate",
  text: "Rewrite the whole of MEMORY.md or USER.md, to make it shorter when it is over its soft cap: keep every fact that still matters, in fewer words.",
  properties: { file: fileSchema, content: { type: "string" } },
};

/** Requires every property and allows no other. */
function schemaOf(properties: ToolDescription["properties"]): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** The dispatcher already checked the schema; this is for other callers. */
function textOf(input: ToolInput, name: string): string {
  const value = input[name];
  if (typeof value === "string") return value;
  throw new ToolError("validation_error", `\`${name}\` must be a text`);
}

function fileOf(input: ToolInput): MemoryFile {
  const file = memoryFiles.find((each) => each === input["file"]);
  if (file !== undefined) return file;
  throw new ToolError("validation_error", `\`file\` must be ${memoryFiles.join(" or ")}`);
}

function requireStore(store: MemoryStore | null): MemoryStore {
  if (store !== null) return store;
  throw new ToolError("execution_error", "this session has no memory; nothing was remembered");
}

function requireVisible(file: MemoryFile, scope: MemoryScope): MemoryFile {
  if (scope === "main" || file !== "MEMORY.md") return file;
  throw new ToolError("permission_denied", "MEMORY.md is not available in a shared session");
}

/** A refused event does not undo a write. The output mentions it. */
function emitEvents(
  write: MemoryWrite,
  call: ToolCallContext,
  emit: MemoryToolsOptions["emit"],
): "all" | "some" {
  const payloads = toMemoryEvents(write);
  if (emit === undefined || payloads === null) return "all";
  const { updated, eviction } = payloads;
  try {
    const id = emit({ type: "memory.updated", payload: updated, followsFrom: null }, call);
    if (eviction !== null) {
      emit({ type: "memory.eviction", payload: eviction, followsFrom: id }, call);
    }
    return "all";
  } catch {
    return "some";
  }
}

function toOutput(
  { kind, write, path, notes }: Exclude<MemoryOutcome, { readonly kind: "refused" }>,
  emitted: "all" | "some",
): ToolOutput {
  return {
    text: [describeWrite(write), ...notes].join(" "),
    filesModified: kind === "written" ? [path] : [],
    metadata: {
      ...metadataOf(write),
      ...(notes.length === 0 ? {} : { notes }),
      ...(emitted === "all" ? {} : { events_not_taken: true }),
    },
  };
}
