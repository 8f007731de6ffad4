// The deps of an open session's turns. Settings that can change are refreshed before every call.
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { TurnEnding } from "../../core/turn/turn-ending.ts";
import type { Deps } from "../turn/deps.ts";
import type { Compaction } from "../compaction/compaction.ts";
import type { EngineContext, EngineDeps, Reached } from "./engine-deps.ts";
import { compactionOf, optionsOf, policyOf, type EngineConfig } from "./engine-config.ts";
import type { Session } from "../../core/session/session.ts";
import { watchTools } from "../turn/tool-parts.ts";
import type { HandleParts } from "../turn/turn-handle.ts";
import { foundationOf, type World } from "../world/world.ts";
import { askedRoleOf } from "../../core/session/session-role.ts";

/** The current state of an open session in this process. */
export interface OpenState {
  session: Session;
  reached: Reached;
  readonly world: World;
  /** The session in the running turn, as its next call sees it. */
  calling: Session;
  lastEnd: TurnEnding;
}

export interface DepsWish {
  /** Parts of the running turn's handle. */
  readonly parts?: HandleParts;
  /** Used when no turn runs. */
  readonly signal?: AbortSignal;
}

export async function toDeps(
  { deps, readConfig }: EngineContext,
  open: OpenState,
  { parts, signal }: DepsWish = {},
): Promise<Deps> {
  const { session, world, reached } = open;
  const { model, protocol, policy } = session;
  const role = askedRoleOf(session);
  let config = await readConfig();
  const summariser = (await deps.summariser?.()) ?? null;
  const runTools: Deps["runTools"] = (uses, call) =>
    world.tools?.runAll(uses, call) ?? Promise.resolve([]);
  return {
    provider: reached.provider,
    ...(reached.counter === undefined ? {} : { counter: reached.counter }),
    ledger: deps.ledger,
    now: deps.now ?? Date.now,
    runTools: parts === undefined ? runTools : watchTools(runTools, parts.tell),
    get compaction(): Compaction {
      return {
        ...compactionOf(config),
        refresh: async () => ({ ...(await foundationOf(world, role)), model, protocol, policy }),
        ...(summariser === null ? {} : { summariser }),
        ...(world.skills === undefined ? {} : { skills: world.skills }),
      };
    },
    onRecorded: (recorded) => {
      open.session = recorded;
    },
    refresh: async (before) => {
      config = await readConfig();
      open.calling = renew(before, config, deps);
      return open.calling;
    },
    ...(deps.events === undefined ? {} : { events: deps.events }),
    ...(signal === undefined ? {} : { signal }),
    ...(parts === undefined ? {} : partDeps(parts)),
  };
}

function partDeps({ signal, onPart, onPhase, takeSteered }: HandleParts): Partial<Deps> {
  return { signal, onPart, onPhase, takeSteered };
}

/** Refreshes markers, prices and limits, which change no sent byte. Layout and protocol would, so they stay. */
function renew(before: Session, config: EngineConfig, { catalogue }: EngineDeps): Session {
  const { layout } = before.policy;
  const model = withLimits(before, catalogue);
  const { outputTokensMax } = optionsOf(config, model);
  return {
    ...before,
    model,
    options: { ...before.options, outputTokensMax },
    policy: { ...policyOf(config), layout },
  };
}

/** A model that the catalogue no longer has stays unchanged. */
function withLimits(
  { model: before, modelName }: Session,
  catalogue: Catalogue = builtInCatalogue,
): ModelFacts {
  const now = findModel(modelName, catalogue)?.facts;
  if (now === undefined || now === before || now.id !== before.id) return before;
  const { windowTokens, inputTokensMax, outputTokensMax, prices, cache } = now;
  return { ...before, windowTokens, inputTokensMax, outputTokensMax, prices, cache };
}
