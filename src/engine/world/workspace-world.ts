// The world of a session in a folder: its documents, memory, skills and tools.
import { arch, hostname, platform } from "node:os";
import type { MemoryTexts } from "../../core/layers/memory-sections.ts";
import type { ContextParts } from "../../core/layers/to-sections.ts";
import type { WorkspaceFile } from "../../core/layers/workspace-file.ts";
import {
  toContextParts,
  toWorkspaceNote,
  type WorkspaceBundle,
  type WorkspaceNotice,
} from "../../core/layers/workspace-bundle.ts";
import { hashContent } from "../../core/hash.ts";
import { StrataError } from "../../core/strata-error.ts";
import { ToolError } from "../../core/tools/tool.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { EventBus } from "../../edge/events/event-bus.ts";
import type { UnreadMemory } from "../../edge/files/memory/memory-session.ts";
import { openMemoryStore, type MemoryStore } from "../../edge/files/memory/memory-store.ts";
import { createSkillCache } from "../../edge/files/skills/read-skill-root.ts";
import { openScope, type ScopedFiles } from "../../edge/files/guard/scoped-files.ts";
import {
  createWorkspaceCache,
  type WorkspaceCache,
} from "../../edge/files/workspace/workspace-cache.ts";
import { builtInTools } from "../../edge/tools/built-in-tools.ts";
import type { Confirm } from "../../edge/tools/dispatch/confirmation.ts";
import type { DispatcherOptions, SettledUse } from "../../edge/tools/dispatch/dispatch-options.ts";
import { historyTools } from "../../edge/tools/history-tools.ts";
import { memoryTool } from "../../edge/tools/memory/memory-tool.ts";
import { memoryTools } from "../../edge/tools/memory/memory-tools.ts";
import type { MemoryToolsOptions } from "../../edge/tools/memory/memory-use.ts";
import type { ScopedTool } from "../../edge/tools/scoped-tool.ts";
import { skillTools } from "../../edge/tools/skills/skill-tools.ts";
import { createWorldMemory, type ShownMemory } from "./world-memory.ts";
import { createWorldProfile } from "./world-profile.ts";
import { openWorldSkills, type WorldSkills } from "./world-skills.ts";
import type {
  MemorySettings,
  SkillSettings,
  ToolSettings,
  WorldSettings,
} from "./world-settings.ts";
import { unlessRefused } from "../events/turn-emitter.ts";
import { createWorldTools, type WorldTools } from "./world-tools.ts";
import type { MemoryProvider, World, WorldContext, WorldOwner } from "./world.ts";

export interface WorkspaceWorldOptions {
  /** The folder; it must exist. */
  readonly workspace: string;
  readonly ledger: Ledger;
  /** A function is read again; each setting says when a change holds. */
  readonly settings?: WorldSettings | (() => WorldSettings);
  readonly events?: Pick<EventBus, "emit">;
  /** A cache shared by sessions; a private one by default. The caller closes its own. */
  readonly documents?: WorkspaceCache;
  /** Further documents, as paths from the folder. */
  readonly extras?: readonly string[];
  /** More parts of the system text, such as an environment. */
  readonly parts?: Partial<WorldContext["parts"]>;
  /** The application's own tools, built for each session. */
  readonly tools?: (owner: WorldOwner) => readonly ScopedTool[] | Promise<readonly ScopedTool[]>;
  /** Further tools, of servers: the same list until they change, which sessions notice where they are compacted. */
  readonly serverTools?: () => readonly ScopedTool[];
  /** A memory outside the workspace; none by default. */
  readonly memoryProvider?: MemoryProvider;
  /** Allows only tools that read; no commands. */
  readonly readOnly?: boolean;
  /** Absolute paths that no file tool may read or write, such as the configuration and the ledger. Asked for every use. */
  readonly guardedFiles?: () => readonly string[];
  /** Takes secrets out of what tools give back. */
  readonly redact?: DispatcherOptions["redact"];
  /** Called before tools that need a confirmation; without it they are refused. */
  readonly confirm?: Confirm;
  readonly onSettled?: (settled: SettledUse) => void;
  /** Called with notices for a person: hidden documents, skills that were left out. */
  readonly onNotice?: (notice: string) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Makes the world of each session in a folder, for `EngineDeps.world`. */
export function openWorkspaceWorld(
  options: WorkspaceWorldOptions,
): (owner: WorldOwner) => Promise<World> {
  const { workspace, ledger, extras = [], guardedFiles } = options;
  const { documents = createWorkspaceCache(), onNotice = () => {}, now = Date.now } = options;
  const { settings: given = {} } = options;
  const settings = typeof given === "function" ? given : () => given;
  const cache = createSkillCache();
  const guarding = guardedFiles === undefined ? {} : { guardedFiles };
  const loadBundle = (): Promise<WorkspaceBundle> =>
    loadDocuments(documents, { workspace, extras }, settings(), now());
  const open = async (owner: WorldOwner): Promise<World> => {
    const { session } = owner;
    const startedMs = session?.openedMs ?? now();
    const { memory: about = {}, skills: aboutSkills = {} } = settings();
    const files = await openScope(workspace, guarding);
    const { journal } = about;
    const store = await openMemoryStore(workspace, journal === undefined ? {} : { journal });
    const layout = session?.policy.layout ?? owner.layout;
    const aboutMemory = layout === undefined ? about : { ...about, layout };
    const memory = createWorldMemory(store, aboutMemory, (problem) =>
      reportUnread(problem, owner, options),
    );
    const skillsOf = { workspace, settings: aboutSkills, cache, guarding, ledger };
    const skills = await openWorldSkills({ ...skillsOf, session, onNotice });
    const { memoryProvider } = options;
    const profile = createWorldProfile({
      profile: () => settings().profile ?? {},
      owner,
      memoryProvider,
      onNotice,
      now,
    });
    const ownTools = (await options.tools?.(owner)) ?? [];
    return {
      context: () =>
        withCodes(async () => {
          const bundle = await loadBundle();
          for (const { path, detail } of bundle.notices) onNotice(`${path}: ${detail}`);
          const shown = await memory.look();
          const inFolder = toParts(bundle, shown, startedMs);
          const { parts, notes, ...more } = await profile.context(inFolder.persona);
          const own = { ...inFolder, ...parts, ...options.parts };
          const made = toContext(own, bundle, shown, skills);
          const limit = toIndexLimit(settings().skills);
          return { ...made, notes: { ...made.notes, ...notes }, ...more, ...limit };
        }),
      tools: openTools(options, settings, { files, store, skills, ownTools }),
      volatile: (running) =>
        withCodes(async () => [
          ...(await profile.forNextCall(running)),
          ...(await memory.forNextCall(running)),
        ]),
      environmentFor: (scope) => profile.environmentFor(scope),
      skills: skills.registry,
    };
  };
  return (owner) => withCodes(() => open(owner));
}

/** The documents of the folder and of the agent's profile, with the notes of the day. */
async function loadDocuments(
  documents: WorkspaceCache,
  { workspace, extras = [] }: Pick<WorkspaceWorldOptions, "workspace" | "extras">,
  { documents: how, memory, profile = {} }: WorldSettings,
  nowMs: number,
): Promise<WorkspaceBundle> {
  if (how?.isKept === false) documents.invalidate(workspace);
  const notes = profile.dailyNotes?.replaceAll("{date}", toDay(nowMs));
  const more = [...(profile.documents ?? []), ...(notes === undefined ? [] : [notes])];
  const scope = memory?.scope ?? "main";
  const bundle = await documents.load({ root: workspace, scope, extras: [...extras, ...more] });
  // Not every day has notes.
  const isNews = ({ kind, path }: WorkspaceNotice): boolean => kind !== "missing" || path !== notes;
  return { ...bundle, notices: bundle.notices.filter(isNews) };
}

/** The guard's errors are for a model. What reaches a caller has a code and a hint. */
async function withCodes<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new StrataError(
      error.errorClass === "not_found" ? "not-found" : "environment-unfit",
      `the workspace cannot be used: ${error.message}`,
      "check that the folder is there and can be read, then try again",
      { cause: error },
    );
  }
}

/** A memory file that cannot be read never stops a turn; people and the log learn of it. */
function reportUnread(
  { file, reason, keptBytes }: UnreadMemory,
  { sessionId }: WorldOwner,
  { events, onNotice }: WorkspaceWorldOptions,
): void {
  const kept =
    keptBytes === 0
      ? "the session goes on without it"
      : `the session goes on with its last good text (${keptBytes} bytes)`;
  onNotice?.(`${file} cannot be read: ${reason}; ${kept}. Mend it, or move it away.`);
  const payload = { file, reason, kept_size_bytes: keptBytes };
  unlessRefused(() =>
    events?.emit({ type: "memory.unreadable", sessionId, turnId: null, payload }),
  );
}

interface OpenedParts {
  readonly files: ScopedFiles;
  readonly store: MemoryStore;
  readonly skills: WorldSkills;
  readonly ownTools: readonly ScopedTool[];
}

function openTools(
  options: WorkspaceWorldOptions,
  settings: () => WorldSettings,
  { files, store, skills, ownTools }: OpenedParts,
): WorldTools {
  const { readOnly = false, onNotice = () => {}, ledger } = options;
  return createWorldTools({
    make: (emit) => {
      const emitting = emit === undefined ? {} : { emit };
      return [
        ...builtInTools(files, { allowBash: true }),
        ...toMemoryTools(store, settings().memory, emitting),
        ...skillTools({ ...skills, ...emitting }),
        ...historyTools({ ledger }),
        ...ownTools,
      ];
    },
    ...(options.serverTools === undefined ? {} : { serverTools: options.serverTools }),
    settings: () => settings().tools ?? noSettings,
    files,
    readOnly,
    onNotice,
    confirm: options.confirm,
    events: options.events,
    onSettled: options.onSettled,
    redact: options.redact,
  });
}

function toMemoryTools(
  store: MemoryStore,
  { tools, scope = "main" }: MemorySettings = {},
  emitting: Pick<MemoryToolsOptions, "emit">,
): readonly ScopedTool[] {
  const options = { scope, ...emitting };
  return tools === "one" ? [memoryTool(store, options)] : memoryTools(store, options);
}

const noSettings: ToolSettings = {};

function toIndexLimit({ indexLengthMax: length }: SkillSettings = {}): Pick<
  WorldContext,
  "skillIndexLengthMax"
> {
  return length === undefined ? {} : { skillIndexLengthMax: length };
}

function toParts(
  bundle: WorkspaceBundle,
  { texts, isInSystem }: ShownMemory,
  startedMs: number,
): WorldContext["parts"] {
  const { memory: _memory, contextFiles = [], ...parts } = toContextParts(bundle);
  return {
    ...parts,
    contextFiles: [...contextFiles, ...besideMemory(bundle, texts)],
    runtime: { host: hostname(), os: platform(), arch: arch() },
    date: toDay(startedMs),
    ...(isInSystem ? { memory: texts } : {}),
  };
}

/** As 2026-11-15. */
function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** USER.md and MEMORY.md at the root are documents unless memory has a file of that name. */
function besideMemory(
  { files }: WorkspaceBundle,
  texts: MemoryTexts,
): NonNullable<ContextParts["contextFiles"]> {
  const isShown = ({ kind, path }: WorkspaceFile): boolean =>
    !path.includes("/") &&
    ((kind === "user" && texts.user === "") || (kind === "memory" && texts.workspace === ""));
  return files.filter(isShown).map(({ path, text }) => ({ path, text }));
}

/** Adds the source of each part, as hashes and sizes. */
function toContext(
  parts: WorldContext["parts"],
  bundle: WorkspaceBundle,
  { note: memory }: ShownMemory,
  { store, note: skills }: WorldSkills,
): WorldContext {
  const { name } = bundle.identity;
  const soul = parts.persona?.soul ?? null;
  const persona = { name, soulHash: soul === null ? null : hashContent(soul) };
  return {
    parts,
    skills: store.snapshot.skills,
    notes: { workspace: toWorkspaceNote(bundle), persona, memory, skills },
  };
}
