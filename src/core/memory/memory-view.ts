// How a session shows memory: frozen at its start plus later changes, or fresh on every call.
import { cutText } from "../layers/workspace-cut.ts";
import { describeMemoryChange, type DeltaLimits } from "../layers/memory-delta.ts";
import { memorySections, type MemoryTexts } from "../layers/memory-sections.ts";
import type { Section } from "../layers/section.ts";
import { memoryCaps, type MemoryFile } from "./memory-file.ts";

/**
 * `snapshot-delta`: the texts of the session's start, and at the end of each call what changed since.
 * `live-tail`: the current texts at the end of each call. `live-system`: the current texts in the
 * system prompt, if the layout puts volatile text there; each write then costs the whole conversation
 * again.
 */
export type MemoryMode = "snapshot-delta" | "live-tail" | "live-system";

/** `shared`: people other than the user take part, so MEMORY.md is not shown. */
export type MemoryScope = "main" | "shared";

export interface MemoryView {
  /** For the foundation. The same for the whole session. */
  readonly session: readonly Section[];
  /** For the next call. */
  readonly volatile: readonly Section[];
  /** Whether the model sees all of the current texts. */
  readonly isWhole: boolean;
}

export function viewMemory(
  mode: MemoryMode,
  snapshot: MemoryTexts,
  current: MemoryTexts,
): MemoryView {
  switch (mode) {
    case "snapshot-delta": {
      const change = describeMemoryChange(snapshot, current);
      return {
        session: memorySections(snapshot, "session"),
        volatile: change === null ? [] : [toDelta(change)],
        isWhole: change === describeMemoryChange(snapshot, current, unlimited),
      };
    }
    case "live-tail":
    case "live-system":
      return {
        session: [],
        volatile: memorySections(current, "turn"),
        isWhole: true,
      };
  }
}

export interface MemorySources extends MemoryTexts {
  /** A USER.md for all of a user's workspaces. Blank if not wanted. */
  readonly globalUser: string;
}

export interface ShownTexts {
  readonly texts: MemoryTexts;
  /** Workspace files over their hard cap, which only manual edits can produce. They are shown in part. */
  readonly cut: readonly MemoryFile[];
}

/** What may be shown: the user's texts first, no MEMORY.md in a shared scope, nothing above the hard cap. */
export function toMemoryTexts(
  { globalUser, user, workspace }: MemorySources,
  scope: MemoryScope,
): ShownTexts {
  const shownUser = showFile("USER.md", user);
  const shownWorkspace = showFile("MEMORY.md", scope === "shared" ? "" : workspace);
  const everywhere = showFile("USER.md", globalUser).text;
  return {
    texts: {
      ...(everywhere.trim() === "" ? {} : { globalUser: everywhere }),
      user: shownUser.text,
      workspace: shownWorkspace.text,
    },
    cut: [...shownUser.cut, ...shownWorkspace.cut],
  };
}

function showFile(
  file: MemoryFile,
  whole: string,
): { readonly text: string; readonly cut: readonly MemoryFile[] } {
  const { hardBytes } = memoryCaps[file];
  const because = `it is over its hard cap of ${hardBytes} bytes`;
  const { text, bytesLeftOut } = cutText(whole, { bytesMax: hardBytes, name: file, because });
  return { text, cut: bytesLeftOut === 0 ? [] : [file] };
}

const unlimited: DeltaLimits = {
  linesMax: Number.POSITIVE_INFINITY,
  charactersMax: Number.POSITIVE_INFINITY,
};

function toDelta(text: string): Section {
  return { name: "memory changes", layer: "memory", stability: "turn", text };
}
