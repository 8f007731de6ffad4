// A worker: its own toolset and rules, the same for all its siblings. Its task is its first message.
import { workerTask } from "../../core/layers/roles.ts";
import { createEngine } from "../session/create-engine.ts";
import { findCallHabit } from "../session/recorded-setup.ts";
import type { Session } from "../../core/session/session.ts";
import type { AskedAgent, ReadyAgent } from "./delegation.ts";
import type { Delegation } from "./delegation.ts";

export async function openWorker(asked: AskedAgent, delegation: Delegation): Promise<ReadyAgent> {
  const { id, parent, mark, origin, task, options } = asked;
  const { deps, readConfig, makeWorld } = delegation;
  let environment: string | null = null;
  const engine = createEngine(
    async () => ({ ...(await readConfig()), role: "worker", pace: "worker" }),
    {
      ...deps,
      world: async (owner) => {
        const world = await makeWorld(owner, mark);
        const context: typeof world.context = async () => {
          const made = await world.context();
          environment = made.parts.environment ?? null;
          return made;
        };
        return { ...world, context };
      },
    },
  );
  const habit = await findCallHabit(deps.ledger, parent);
  const model = options.model ?? habit?.name ?? parent.model;
  const agent = await engine.open({ id, model, origin });
  const scoped =
    task.scope === null ? undefined : await options.environmentFor?.(task.scope, parent.id);
  return {
    agent,
    text: workerTask(task.task, scoped === undefined ? environment : scoped),
    prefix: staticPrefix(agent.session),
  };
}

/** T0 and T1: the prefix that siblings of one toolset share. It does not depend on memory. */
function staticPrefix({ thread: { foundation }, model }: Session): string {
  const last = foundation.blocks.findLast(({ tier }) => tier === "T0" || tier === "T1");
  return `${model.provider}/${model.id}/${last?.key ?? foundation.key}`;
}
