// Memory in a session's world: what its system text shows, and what changed since.
import { hashContent } from "../../core/hash.ts";
import { countBytes } from "../../core/layers/cut-middle.ts";
import { memorySections, type MemoryTexts } from "../../core/layers/memory-sections.ts";
import type { Section } from "../../core/layers/section.ts";
import {
  openMemorySession,
  type MemorySession,
  type MemorySource,
  type UnreadMemory,
} from "../../edge/files/memory/memory-session.ts";
import type { MemoryStore } from "../../edge/files/memory/memory-store.ts";
import type { SectionNote, Session } from "../../core/session/session.ts";
import type { MemoryMode } from "../../core/memory/memory-view.ts";
import type { MemorySettings } from "./world-settings.ts";

export interface WorldMemory {
  /** Current memory, for new system text. */
  look(): Promise<ShownMemory>;
  /** Memory changes that the session's system text does not have yet. */
  forNextCall(session: Session): Promise<readonly Section[]>;
}

export interface ShownMemory {
  readonly texts: MemoryTexts;
  /** False in a mode that keeps memory out of the system text. */
  readonly isInSystem: boolean;
  /** Hashes and sizes, no content. */
  readonly note: object;
}

/** `layout` is from the session's policy, if it is known. `onUnread` is called once for each new problem of a file. */
export function createWorldMemory(
  store: MemoryStore,
  { scope = "main", userFolder, layout, mode = usualMode(layout) }: MemorySettings,
  onUnread: (problem: UnreadMemory) => void = () => {},
): WorldMemory {
  const lastGood = new Map<MemorySource, string>();
  const reported = new Map<MemorySource, string>();
  const open = (snapshot?: MemoryTexts): Promise<MemorySession> =>
    openMemorySession(store, {
      mode,
      scope,
      lastGood,
      onUnread: (problem) => {
        const isKnown = reported.get(problem.file) === problem.reason;
        reported.set(problem.file, problem.reason);
        if (!isKnown) onUnread(problem);
      },
      ...(layout === undefined ? {} : { layout }),
      ...(userFolder === undefined ? {} : { globalFolder: userFolder }),
      ...(snapshot === undefined ? {} : { snapshot }),
    });
  // One for each system text: after a failed compaction the session still has the old one.
  let shown: { readonly key: string; readonly memory: MemorySession } | null = null;
  return {
    look: async () => {
      const { snapshot, sections } = await open();
      const files = sections.map(({ name, text }) => ({
        name,
        hash: hashContent(text),
        bytes: countBytes(text),
      }));
      const isInSystem = mode === "snapshot-delta";
      return { texts: snapshot, isInSystem, note: { mode, scope, files } };
    },
    forNextCall: async (session) => {
      const { key } = session.thread.foundation;
      if (shown?.key !== key) shown = { key, memory: await open(memoryIn(session)) };
      return shown.memory.forNextCall();
    },
  };
}

/** A layout whose volatile text is memory sends it with every call. */
function usualMode(layout: MemorySettings["layout"]): MemoryMode {
  if (layout?.volatileText !== "memory") return "snapshot-delta";
  return layout.volatile === "system-tail" ? "live-system" : "live-tail";
}

/** The memory texts in a session's system text, also in one that another process built. */
export function memoryIn({ madeOf, thread }: Pick<Session, "madeOf" | "thread">): MemoryTexts {
  const system = thread.foundation.system.map(({ text }) => text);
  const [globalUser = "", user = "", workspace = ""] = headings.map(({ name, heading }) => {
    const note = madeOf.find((each) => each.name === name && each.layer === "memory");
    return note === undefined ? "" : findBody(system, heading, note);
  });
  return { ...(globalUser === "" ? {} : { globalUser }), user, workspace };
}

/** The heading of each section, in order. */
const headings = memorySections({ globalUser: "-", user: "-", workspace: "-" }, "session").map(
  ({ name, text }) => ({ name, heading: text.slice(0, -1) }),
);

/** A document may contain the same heading; size and hash identify the right one. */
function findBody(texts: readonly string[], heading: string, { hash, bytes }: SectionNote): string {
  for (const text of texts) {
    for (let at = text.indexOf(heading); at >= 0; at = text.indexOf(heading, at + 1)) {
      const found = Buffer.from(text.slice(at)).subarray(0, bytes).toString();
      if (hashContent(found) === hash) return found.slice(heading.length);
    }
  }
  return "";
}
