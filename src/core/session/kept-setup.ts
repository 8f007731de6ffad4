// What the ledger stores of a session's setup for its model.
import type { Policy, PolicyName } from "../cache/policy.ts";
import type { ModelName } from "../ledger/ledger.ts";
import type { CallOptions } from "../wire/protocol.ts";
import { foundationNotesOf, type FoundationNotes, type Session } from "./session.ts";

/** The parts of a setup that cannot be read from the session's messages. */
export interface KeptSetup extends Omit<FoundationNotes, "strataTools" | "toolset"> {
  readonly calls: CallSettings;
  /** As `SetupPlace.after`; absent for null. */
  readonly ownAfter?: string;
  /** Absent for none, and in records of earlier versions. */
  readonly strataTools?: readonly string[];
  readonly toolset?: string;
}

/** How a session's calls are made. Another protocol, layout or other options would change the cached prefix. */
export interface CallSettings extends ModelName {
  /** As `Session.modelName`; absent in records of earlier versions. */
  readonly name?: string;
  readonly protocol: string;
  readonly policy: PolicyName;
  /** The configured layout; absent means the policy's own. */
  readonly layout?: Policy["layout"];
  readonly options: CallOptions;
}

export function keptSetupOf(session: Session): KeptSetup {
  const { options, model, setupPlace } = session;
  const { strataTools, toolset, ...notes } = foundationNotesOf(session);
  const calls = {
    model: model.id,
    provider: model.provider,
    name: session.modelName,
    protocol: session.protocol.name,
    policy: session.policy.name,
    layout: session.policy.layout,
    options,
  };
  return {
    ...notes,
    calls,
    ...(setupPlace.after !== null && { ownAfter: setupPlace.after }),
    ...(strataTools.length > 0 && { strataTools }),
    ...(toolset !== null && { toolset }),
  };
}
