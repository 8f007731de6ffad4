// Memory in one session: a snapshot at its start, and what is new on each call.
import type { Layout } from "../../../core/assembly/layout.ts";
import {
  toMemoryTexts,
  viewMemory,
  type MemoryMode,
  type MemoryScope,
} from "../../../core/memory/memory-view.ts";
import type { MemoryTexts } from "../../../core/layers/memory-sections.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import type { Section } from "../../../core/layers/section.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { withFolder } from "./held-folder.ts";
import { openMemoryRoot, readMemoryText } from "./memory-place.ts";
import type { MemoryContent, MemoryStore } from "./memory-store.ts";

export interface MemorySession {
  /** For `context.memory` of a new session. Stored with it, so that another process continues with the same. */
  readonly snapshot: MemoryTexts;
  /** The same as sections, for callers that make a foundation without a session. */
  readonly sections: readonly Section[];
  /** Reads the current texts, so that the next call sees every write. */
  forNextCall(): Promise<readonly Section[]>;
}

export interface MemorySessionOptions {
  readonly mode?: MemoryMode;
  /** The policy's layout. `live-system` needs one that puts volatile text into the system prompt. */
  readonly layout?: Pick<Layout, "volatile">;
  readonly scope?: MemoryScope;
  /** A folder whose USER.md comes before the workspace's. None by default. */
  readonly globalFolder?: string;
  /**
   * The snapshot of a resumed session. Default: taken now. Omit it when the cache is lost anyway: after a
   * compaction or with another model.
   */
  readonly snapshot?: MemoryTexts;
  /** Called for a file that cannot be read; the last good text is shown in its place. Without it that is an error. */
  readonly onUnread?: (problem: UnreadMemory) => void;
  /** The last good texts, if several openings share them. */
  readonly lastGood?: Map<MemorySource, string>;
}

/** `global USER.md`: the one in `globalFolder`. */
export type MemorySource = MemoryFile | "global USER.md";

export interface UnreadMemory {
  readonly file: MemorySource;
  /** As a sentence that names the file. */
  readonly reason: string;
  /** The length of what is shown in its place. */
  readonly keptBytes: number;
}

export async function openMemorySession(
  store: MemoryStore,
  options: MemorySessionOptions = {},
): Promise<MemorySession> {
  const { mode = "snapshot-delta" } = options;
  if (mode === "live-system") requireSystemTail(options.layout);
  const look = createReader(store, options);
  const first = await look();
  const snapshot = options.snapshot ?? first.texts;
  const start = viewMemory(mode, snapshot, first.texts);
  const show = ({ texts, whole }: Shown): readonly Section[] => {
    const view = viewMemory(mode, snapshot, texts);
    if (view.isWhole) for (const { file, hash } of whole) store.markSeen(file, hash);
    return view.volatile;
  };
  show(first);
  return { snapshot, sections: start.session, forNextCall: async () => show(await look()) };
}

/** Reads the files as they are now. A file that cannot be read has its last good text. */
function createReader(store: MemoryStore, options: MemorySessionOptions): () => Promise<Shown> {
  const { scope = "main", globalFolder, snapshot, onUnread } = options;
  const { lastGood = new Map<MemorySource, string>() } = options;
  const readOrKeep = async (
    file: MemorySource,
    read: () => Promise<string>,
    inSnapshot = "",
  ): Promise<string> => {
    try {
      const text = await read();
      lastGood.set(file, text);
      return text;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      if (onUnread === undefined) throw unreadable(error);
      const kept = lastGood.get(file) ?? inSnapshot;
      if (kept !== "") lastGood.set(file, kept);
      onUnread({ file, reason: error.message, keptBytes: countBytes(kept) });
      return kept;
    }
  };
  const readGlobal = async (): Promise<string> =>
    globalFolder === undefined ? "" : readGlobalUser(globalFolder);
  return async () => {
    const contents: MemoryContent[] = [];
    const peek = async (file: MemoryFile): Promise<string> => {
      const content = await store.peek(file);
      contents.push(content);
      return content.text;
    };
    const sources = {
      globalUser: await readOrKeep("global USER.md", readGlobal, snapshot?.globalUser),
      user: await readOrKeep("USER.md", () => peek("USER.md"), snapshot?.user),
      workspace:
        scope === "shared"
          ? ""
          : await readOrKeep("MEMORY.md", () => peek("MEMORY.md"), snapshot?.workspace),
    };
    const { texts, cut } = toMemoryTexts(sources, scope);
    // A file that was not shown completely may not be replaced as a whole.
    return { texts, whole: contents.filter(({ file }) => !cut.includes(file)) };
  };
}

interface Shown {
  readonly texts: MemoryTexts;
  /** Files that the texts contain completely. */
  readonly whole: readonly MemoryContent[];
}

function unreadable(cause: ToolError): StrataError {
  const hint = "correct the file by hand, or move it away";
  return new StrataError("environment-unfit", cause.message, hint, { cause });
}

function requireSystemTail(layout: Pick<Layout, "volatile"> | undefined): void {
  if (layout?.volatile === "system-tail") return;
  const found = layout === undefined ? "none was given" : `this one puts it at ${layout.volatile}`;
  throw new StrataError(
    "input-invalid",
    `memory in the mode live-system needs a layout with volatile text at system-tail; ${found}`,
    "pass the layout of such a policy, or choose live-tail",
  );
}

/** Empty if the folder or the file is missing. Read by the same rules as the workspace's own files. */
async function readGlobalUser(path: string): Promise<string> {
  const root = await openMemoryRoot(path).catch((error: unknown) => {
    if (error instanceof ToolError && error.errorClass === "not_found") return null;
    throw error;
  });
  if (root === null) return "";
  const text = await withFolder(root, [], false, (folder) =>
    readMemoryText(folder, `USER.md in ${path}`, "USER.md"),
  );
  return text ?? "";
}
