// The three tools with which an agent keeps its memory. Workers have none of them.
import { countBytes } from "../../../core/layers/cut-middle.ts";
import { cutText } from "../../../core/layers/workspace-cut.ts";
import { memoryCaps, memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { describeRefusal, type MemoryRefusal } from "../../../core/memory/memory-refusal.ts";
import type { MemoryScope } from "../../../core/memory/memory-view.ts";
import * as writes from "../../../core/memory/memory-write.ts";
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
  type ToolOutput,
} from "../../../core/tools/tool.ts";
import type { MemoryOutcome, MemoryStore } from "../../files/memory/memory-store.ts";
import type { EmitInCall } from "../dispatch/tool-trace.ts";
import { textOf, toObjectDefinition } from "../scoped-tool.ts";
import { hashContent, type ContentHash } from "../../../core/hash.ts";

export interface MemoryToolsOptions {
  readonly emit?: EmitInCall;
  /** In a shared session MEMORY.md is neither shown nor written. */
  readonly scope?: MemoryScope;
  /**
   * Up to this size a refusal shows the whole file, which then counts as seen. Below the dispatcher's limit; 16
   * KiB.
   */
  readonly refusalBytesMax?: number;
}

/** Without a store the tools exist and say that there is no memory. */
export function memoryTools(
  store: MemoryStore | null,
  { emit, scope = "main", refusalBytesMax = 16_384 }: MemoryToolsOptions = {},
): readonly Tool[] {
  const questions = createQuestions();
  const knowledge = createKnowledge(store);
  const toTool = ({ name, text, properties }: ToolDescription, write: Write): Tool => ({
    definition: toObjectDefinition(name, text, properties, Object.keys(properties)),
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
  write: writes.MemoryWrite,
  call: ToolCallContext,
  emit: MemoryToolsOptions["emit"],
): "all" | "some" {
  const payloads = writes.toMemoryEvents(write);
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
    text: [writes.describeWrite(write), ...notes].join(" "),
    filesModified: kind === "written" ? [path] : [],
    metadata: {
      ...writes.metadataOf(write),
      ...(notes.length === 0 ? {} : { notes }),
      ...(emitted === "all" ? {} : { events_not_taken: true }),
    },
  };
}

/** Why memory was not changed, with the text the model needs for the next try. */
function toToolError(
  { file, refusal }: { readonly file: MemoryFile; readonly refusal: MemoryRefusal },
  bytesMax: number,
): ToolError {
  const sentence = describeRefusal(file, refusal);
  switch (refusal.kind) {
    case "entry-blank":
    case "old-blank":
      return new ToolError("validation_error", sentence);
    case "entry-known":
    case "file-empty":
    case "old-count":
      return new ToolError("execution_error", sentence);
    case "over-hard-cap":
      return new ToolError("execution_error", sentence, { isUserVisible: true });
    case "changed-meanwhile":
      return new ToolError("execution_error", `${sentence}. ${showText(file, refusal, bytesMax)}`);
    case "drop-unconfirmed":
      return new ToolError(
        "execution_error",
        `${sentence}. If all of that may be forgotten, call memory_consolidate again with the very same content`,
      );
  }
}

type ChangedMeanwhile = Extract<MemoryRefusal, { readonly kind: "changed-meanwhile" }>;

function isShownWhole({ currentText }: ChangedMeanwhile, bytesMax: number): boolean {
  return countBytes(currentText) <= bytesMax;
}

/** If the text is too long to show, only as much as memory may hold. A person must then shorten it. */
function showText(file: MemoryFile, refusal: ChangedMeanwhile, bytesMax: number): string {
  if (isShownWhole(refusal, bytesMax)) return `It holds now:\n\n${refusal.currentText}`;
  const because = "it is far over its hard cap, so a person has to shorten it";
  const limit = { bytesMax: memoryCaps[file].hardBytes, name: file, because };
  return `It holds now:\n\n${cutText(refusal.currentText, limit).text}`;
}

interface Questions {
  ask(file: MemoryFile, content: string, call: ToolCallContext): void;
  /**
   * Repeating the same consolidation confirms it, once. It does not count within the reply that was asked,
   * which came before the question.
   */
  isAnswer(file: MemoryFile, content: string, call: ToolCallContext): boolean;
}

function createQuestions(): Questions {
  const asked = new Map<MemoryFile, { readonly hash: ContentHash; readonly reply: number }>();
  return {
    ask: (file, content, { replyNumber = 0 }) =>
      void asked.set(file, { hash: hashContent(content), reply: replyNumber }),
    isAnswer: (file, content, { replyNumber = Infinity }) => {
      const question = asked.get(file);
      if (question === undefined || replyNumber <= question.reply) return false;
      asked.delete(file);
      return question.hash === hashContent(content);
    },
  };
}

interface Knowledge {
  /** Call it first for every use. */
  take(call: ToolCallContext): void;
  /** What the session had seen when its reply was made, without the writes of other uses in that reply. */
  of(file: MemoryFile, call: ToolCallContext): ContentHash | null;
}

function createKnowledge(store: MemoryStore | null): Knowledge {
  let taken = { reply: 0, seen: new Map<MemoryFile, ContentHash | null>() };
  const look = (file: MemoryFile): ContentHash | null => store?.seenHash(file) ?? null;
  return {
    take: ({ replyNumber }) => {
      if (replyNumber === undefined || replyNumber === taken.reply) return;
      taken = {
        reply: replyNumber,
        seen: new Map(memoryFiles.map((file) => [file, look(file)])),
      };
    },
    of: (file, { replyNumber }) =>
      replyNumber === taken.reply ? (taken.seen.get(file) ?? null) : look(file),
  };
}
