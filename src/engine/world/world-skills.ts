// Skills in a session's world: which can be loaded, and which are already in the conversation.
import { itemsOf } from "../../core/growing/growing-list.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { nearestNames } from "../../core/nearest-names.ts";
import { recoverActivations } from "../../core/skills/recover-activations.ts";
import {
  createSkillRegistry,
  type SkillActivationRegistry,
} from "../../core/skills/skill-registry.ts";
import { limitSnapshot } from "../../core/skills/skill-snapshot.ts";
import type { ScopeOptions } from "../../edge/files/guard/open-root.ts";
import type { SkillCache } from "../../edge/files/skills/read-skill-root.ts";
import { createSkillStore, type SkillStore } from "../../edge/files/skills/skill-store.ts";
import type { Session } from "../../core/session/session.ts";
import type { SkillSettings } from "./world-settings.ts";

export interface WorldSkills {
  /** The skills as they were when this process opened the session. */
  readonly store: SkillStore;
  readonly registry: SkillActivationRegistry;
  /** Names and versions, no content. */
  readonly note: object;
}

export interface SkillsOf {
  readonly workspace: string;
  readonly settings: SkillSettings;
  /** Shared by the sessions of a workspace. */
  readonly cache: SkillCache;
  readonly guarding: ScopeOptions;
  readonly ledger: Ledger;
  /** The resumed session; absent for a new one. */
  readonly session?: Session | undefined;
  readonly onNotice: (notice: string) => void;
}

export async function openWorldSkills(of: SkillsOf): Promise<WorldSkills> {
  const { settings, session, onNotice } = of;
  const { limits } = settings;
  const store = await openStore(of);
  const { skills } = store.snapshot;
  const state =
    session === undefined
      ? undefined
      : recoverActivations(await messagesOf(session, of.ledger), session.preactivated);
  const registry = createSkillRegistry({
    onWarning: onNotice,
    ...(limits === undefined ? {} : { limits }),
    ...(state === undefined ? {} : { state }),
  });
  const named = skills.map(({ name, version, source }) => ({ name, version, source }));
  return { store, registry, note: { count: skills.length, skills: named } };
}

/** The skills that this agent may see. People learn what is left out or hidden. */
async function openStore({
  workspace,
  settings,
  cache,
  guarding,
  onNotice,
}: SkillsOf): Promise<SkillStore> {
  const { globalRoot, only } = settings;
  const store = await createSkillStore({
    workspace,
    cache,
    scope: guarding,
    ...(globalRoot === undefined ? {} : { globalRoot }),
  });
  const { problems, shadowed, skills } = store.snapshot;
  for (const { folder, message } of problems) onNotice(`skill ${folder} is left out: ${message}`);
  for (const { name } of shadowed) {
    onNotice(
      `skill ${name} of ${globalRoot ?? "all workspaces"} is hidden: the workspace has one of that name`,
    );
  }
  if (only === undefined) return store;
  const { snapshot, unknown } = limitSnapshot(store.snapshot, only);
  for (const name of unknown) {
    const [near] = nearestNames(
      name.slice(0, 64),
      skills.map((each) => each.name),
      1,
    );
    onNotice(
      `there is no skill ${name}, which the agent's skills name${near === undefined ? "" : `; did you mean ${near}?`}`,
    );
  }
  return { ...store, snapshot };
}

/** Includes the messages of an open turn: it will be resumed. */
async function messagesOf({ id, thread }: Session, ledger: Ledger): Promise<readonly Message[]> {
  const openTurnId = (await ledger.findSession(id))?.openTurnId ?? null;
  const unfinished = openTurnId === null ? [] : await ledger.readMessages(openTurnId);
  return [...itemsOf(thread.messages), ...unfinished.map(({ message }) => message)];
}
