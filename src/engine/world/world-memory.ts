// Memory in the world of a session: what its system text shows of it, and what has changed since.
import { hashContent } from "../../core/hash.ts";
import { countBytes } from "../../core/layers/cut-middle.ts";
import { memorySections, type MemoryTexts } from "../../core/layers/memory-sections.ts";
import type { Section } from "../../core/layers/section.ts";
import { openMemorySession, type MemorySession } from "../../edge/files/memory/memory-session.ts";
import type { MemoryStore } from "../../edge/files/memory/memory-store.ts";
import type { SectionNote, Session } from "../../core/session/session.ts";
import type { MemorySettings } from "./world-settings.ts";

export interface WorldMemory {
  /** As it is now, for system text that is about to be made. */
  look(): Promise<ShownMemory>;
  /** What the next call has to be told besides what the session's system text says. */
  forNextCall(session: Session): Promise<readonly Section[]>;
}

export interface ShownMemory {
  readonly texts: MemoryTexts;
  /** False in a mode that shows nothing of it in the system text. */
  readonly isInSystem: boolean;
  /** Hashes and sizes, no content. */
  readonly note: object;
}

/** `layout` is of the session's policy, where it is known. */
export function createWorldMemory(
  store: MemoryStore,
  { mode = "snapshot-delta", scope = "main", userFolder, layout }: MemorySettings,
): WorldMemory {
  const open = (snapshot?: MemoryTexts): Promise<MemorySession> =>
    openMemorySession(store, {
      mode,
      scope,
      ...(layout === undefined ? {} : { layout }),
      ...(userFolder === undefined ? {} : { globalFolder: userFolder }),
      ...(snapshot === undefined ? {} : { snapshot }),
    });
  // One for each system text: a compaction that comes to nothing leaves the session with the one it had.
  let told: { readonly key: string; readonly memory: MemorySession } | null = null;
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
      if (told?.key !== key) told = { key, memory: await open(memoryIn(session)) };
      return told.memory.forNextCall();
    },
  };
}

/** The texts of memory as a session's system text has them, whoever made it and however long ago. */
export function memoryIn({ madeOf, thread }: Pick<Session, "madeOf" | "thread">): MemoryTexts {
  const system = thread.foundation.system.map(({ text }) => text);
  const [globalUser = "", user = "", workspace = ""] = headings.map(({ name, heading }) => {
    const note = madeOf.find((each) => each.name === name && each.layer === "memory");
    return note === undefined ? "" : findBody(system, heading, note);
  });
  return { ...(globalUser === "" ? {} : { globalUser }), user, workspace };
}

/** What each section begins with, in the order they stand in. */
const headings = memorySections({ globalUser: "-", user: "-", workspace: "-" }, "session").map(
  ({ name, text }) => ({ name, heading: text.slice(0, -1) }),
);

/** A heading may be in a document, too; size and hash tell which one is meant. */
function findBody(texts: readonly string[], heading: string, { hash, bytes }: SectionNote): string {
  for (const text of texts) {
    for (let at = text.indexOf(heading); at >= 0; at = text.indexOf(heading, at + 1)) {
      const found = Buffer.from(text.slice(at)).subarray(0, bytes).toString();
      if (hashContent(found) === hash) return found.slice(heading.length);
    }
  }
  return "";
}
