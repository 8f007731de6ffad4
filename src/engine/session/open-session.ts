// Opens a session: a new one from values, or one as the ledger has it.
import { randomUUID } from "node:crypto";
import { inheritEvidence, type Evidence } from "../../core/cache/evidence.ts";
import { inheritUnasked } from "../../core/cache/unasked-reads.ts";
import type { Ledger, SessionsOf } from "../../core/ledger/ledger.ts";
import type { Session, SessionSetup } from "../../core/session/session.ts";
import { usualRole } from "../../core/session/session-role.ts";
import { lessonIn, trialAgent, type Lesson } from "../../core/session/session-state.ts";
import { toSession } from "../../core/session/to-session.ts";
import { findRecorded, optionsOf, policyOf } from "./engine-config.ts";
import type { EngineContext } from "./engine-deps.ts";
import { findModelSetup, needRecord } from "./recorded-setup.ts";
import type { ReachedSession } from "./route-turn.ts";
import { resumeSession } from "./stored-session.ts";

/** A new session, with a random id by default. It is recorded with its first turn. */
export function openSession(setup: SessionSetup): Session {
  return toSession({ ...setup, id: setup.id ?? randomUUID() });
}

/** How many earlier sessions teach a new one. Agents change, and reading takes time. */
const teachersMax = 8;

/** What the agent's earlier sessions with a model learned, in this process or another. Read once, when a session opens. */
export async function readLessons(
  ledger: Ledger,
  of: Omit<SessionsOf, "limit">,
): Promise<Pick<SessionSetup, "earlierPaces" | "learned">> {
  // A trial settles a point anew.
  if (of.agent === trialAgent) return {};
  const trial = { ...of, agent: trialAgent, role: usualRole, areSubAgents: false };
  const [own, trials] = await Promise.all(
    [of, trial].map(async (whose) => {
      const states = await ledger.readLatestStates({ ...whose, limit: teachersMax });
      return states.flatMap((state) => lessonIn(state, of) ?? []);
    }),
  );
  const unasked = inheritUnasked(own?.flatMap((lesson) => lesson.unasked ?? []) ?? []);
  return {
    earlierPaces: own?.map(({ pace }) => pace) ?? [],
    learned: {
      evidence: inheritEvidence(evidenceOf(own), evidenceOf(trials)),
      ...(unasked && { unasked }),
    },
  };
}

function evidenceOf(lessons: readonly Lesson[] = []): readonly Evidence[] {
  return lessons.map(({ evidence }) => evidence);
}

export interface LoadedSession extends ReachedSession {
  readonly hasOpenTurn: boolean;
}

/** A session as the ledger has it, with the model of its next turn. */
export async function loadSession(context: EngineContext, id: string): Promise<LoadedSession> {
  const { deps } = context;
  const config = await context.readConfig();
  const record = await needRecord(deps.ledger, id);
  const recorded = await findModelSetup(deps.ledger, record);
  const calls = recorded?.setup?.calls;
  const model = findRecorded({ model: recorded?.model ?? record.model, name: calls?.name }, deps);
  const reached = await deps.reach(model);
  const session = await resumeSession(deps.ledger, id, {
    model,
    protocol: reached.protocol,
    policy: policyOf(config),
    counter: deps.counter,
    // Other options would change the cached prefix.
    options: calls?.options ?? optionsOf(config, model),
    ...(config.pace !== undefined && { pace: config.pace }),
  });
  // A session without a folder, such as an imported one, works in the engine's.
  const workspacePath = session.workspacePath ?? config.workspacePath ?? null;
  const hasOpenTurn = record.openTurnId !== null;
  return { session: { ...session, workspacePath }, reached, hasOpenTurn };
}
