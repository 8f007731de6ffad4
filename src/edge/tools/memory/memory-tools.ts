// The three tools with which an agent keeps its memory. Workers have none of them.
import { hashContent, type ContentHash } from "../../../core/hash.ts";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import * as writes from "../../../core/memory/memory-write.ts";
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
  type ToolOutput,
} from "../../../core/tools/tool.ts";
import type { MemoryOutcome, MemoryStore } from "../../files/memory/memory-store.ts";
import { textOf, toObjectDefinition } from "../scoped-tool.ts";
import {
  createKnowledge,
  emitEvents,
  isShownWhole,
  requireStore,
  requireVisible,
  toToolError,
  type MemoryToolsOptions,
} from "./memory-use.ts";

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
