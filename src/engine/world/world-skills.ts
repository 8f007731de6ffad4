// Skills in the world of a session: what can be loaded, and what of it is in the conversation already.
import { itemsOf } from "../../core/growing/growing-list.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { recoverActivations } from "../../core/skills/recover-activations.ts";
import {
  createSkillRegistry,
  type SkillActivationRegistry,
} from "../../core/skills/skill-registry.ts";
import { createSkillStore, type SkillStore } from "../../edge/files/skills/skill-store.ts";
import type { Session } from "../../core/session/session.ts";
import type { SkillSettings } from "./world-settings.ts";

export interface WorldSkills {
  /** As they were when the session was opened here. */
  readonly store: SkillStore;
  readonly registry: SkillActivationRegistry;
  /** Names and versions, no content. */
  readonly note: object;
}

export interface SkillsOf {
  readonly workspace: string;
  readonly settings: SkillSettings;
  readonly ledger: Ledger;
  /** The one that goes on; absent for a new one. */
  readonly session?: Session | undefined;
  readonly onNotice: (notice: string) => void;
}

export async function openWorldSkills(of: SkillsOf): Promise<WorldSkills> {
  const { workspace, settings, session, onNotice } = of;
  const { globalRoot, limits } = settings;
  const store = await createSkillStore({
    workspace,
    ...(globalRoot === undefined ? {} : { globalRoot }),
  });
  const { skills, problems } = store.snapshot;
  for (const { folder, message } of problems) onNotice(`skill ${folder} is left out: ${message}`);
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

/** With those of a turn that nobody closed: it will be gone on with. */
async function messagesOf({ id, thread }: Session, ledger: Ledger): Promise<readonly Message[]> {
  const openTurnId = (await ledger.findSession(id))?.openTurnId ?? null;
  const unfinished = openTurnId === null ? [] : await ledger.readMessages(openTurnId);
  return [...itemsOf(thread.messages), ...unfinished.map(({ message }) => message)];
}
