// What the ledger stores of a session's setup for its model.
import type { PaddingPlan } from "../assembly/padding.ts";
import type { Policy, PolicyName } from "../cache/policy.ts";
import type { ModelName } from "../ledger/ledger.ts";
import type { LoadedSkill } from "../skills/activation-events.ts";
import type { LeftTool } from "../tools/select-tools.ts";
import type { CallOptions } from "../wire/protocol.ts";
import type { Session } from "./session.ts";

/** The parts of a setup that cannot be read from the session's messages. */
export interface KeptSetup {
  readonly padding: PaddingPlan;
  readonly preactivated: readonly LoadedSkill[];
  readonly toolsLeft: readonly LeftTool[];
  readonly permissions: readonly string[];
  readonly madeOf: Session["madeOf"];
  readonly calls: CallHabit;
  /** As `SetupPlace.after`; absent for null. */
  readonly ownAfter?: string;
}

/** How a session's calls are made. Another protocol, layout or other options would change the cached prefix. */
export interface CallHabit extends ModelName {
  /** As `Session.modelName`; absent in records of earlier versions. */
  readonly name?: string;
  readonly protocol: string;
  readonly policy: PolicyName;
  /** The configured layout; absent means the policy's own. */
  readonly layout?: Policy["layout"];
  readonly options: CallOptions;
}

export function keptSetupOf(session: Session): KeptSetup {
  const { padding, preactivated, toolsLeft, permissions, madeOf, options, model } = session;
  const calls = {
    model: model.id,
    provider: model.provider,
    name: session.modelName,
    protocol: session.protocol.name,
    policy: session.policy.name,
    layout: session.policy.layout,
    options,
  };
  const { after } = session.setupPlace;
  const own = after === null ? {} : { ownAfter: after };
  return { padding, preactivated, toolsLeft, permissions, madeOf, calls, ...own };
}
