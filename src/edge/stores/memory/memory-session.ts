// Memory as one session shows it: a snapshot at its start, and what is new on each call (C-3).
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import {
  toMemoryTexts,
  viewMemory,
  type MemoryMode,
  type MemoryScope,
  type MemoryView,
} from "../../../core/memory/memory-view.ts";
import type { MemoryTexts } from "../../../core/layers/memory-sections.ts";
import type { Section } from "../../../core/layers/section.ts";
import { isMissing } from "../scoped-failure.ts";
import { openScope } from "../scoped-files.ts";
import { memoryBytesMax } from "./memory-place.ts";
import type { MemoryContent, MemoryStore } from "./memory-store.ts";
import { ToolError } from "../../../core/tools/tool.ts";

export interface MemorySession {
  /** What the foundation shows; kept with the session, so another process goes on with the same. */
  readonly snapshot: MemoryTexts;
  readonly sections: readonly Section[];
  readonly volatilePlace: MemoryView["volatilePlace"];
  /** Reads what is there now, so that a write is seen by the very next call (S-12). */
  forNextCall(): Promise<readonly Section[]>;
}

export interface MemorySessionOptions {
  readonly mode?: MemoryMode;
  readonly scope?: MemoryScope;
  /** A folder whose USER.md comes before the workspace's. None by default. */
  readonly globalFolder?: string;
  /** Of a session that goes on; taken now by default. Without one where the cache is lost anyway: a fold, another model. */
  readonly snapshot?: MemoryTexts;
}

export async function openMemorySession(
  store: MemoryStore,
  options: MemorySessionOptions = {},
): Promise<MemorySession> {
  const { mode = "snapshot-delta", scope = "main", globalFolder } = options;
  const look = async (): Promise<Shown> => {
    const user = await store.peek("USER.md");
    const workspace = scope === "shared" ? null : await store.peek("MEMORY.md");
    const sources = {
      globalUser: globalFolder === undefined ? "" : await readGlobalUser(globalFolder),
      user: user.text,
      workspace: workspace?.text ?? "",
    };
    return { texts: toMemoryTexts(sources, scope), contents: [user, workspace] };
  };
  const first = await look();
  const snapshot = options.snapshot ?? first.texts;
  const start = viewMemory(mode, snapshot, first.texts);
  const show = ({ texts, contents }: Shown): readonly Section[] => {
    const view = viewMemory(mode, snapshot, texts);
    // Only what was shown to its last line may be written anew as a whole.
    if (view.isWhole) {
      for (const content of contents) {
        if (content !== null) store.markSeen(content.file, content.hash);
      }
    }
    return view.volatile;
  };
  show(first);
  return {
    snapshot,
    sections: start.session,
    volatilePlace: start.volatilePlace,
    forNextCall: async () => show(await look()),
  };
}

interface Shown {
  readonly texts: MemoryTexts;
  readonly contents: readonly (MemoryContent | null)[];
}

const globalFile: MemoryFile = "USER.md";

/** Empty where the folder or the file is missing. */
async function readGlobalUser(folder: string): Promise<string> {
  const files = await openScope(folder).catch((error: unknown) => {
    if (isMissing(error) || (error instanceof ToolError && error.errorClass === "not_found")) {
      return null;
    }
    throw error;
  });
  const content = await files?.readFile(globalFile, { bytesMax: memoryBytesMax });
  return content == null ? "" : new TextDecoder().decode(content.bytes);
}
