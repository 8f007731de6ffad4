// What besides the prompt can make a provider miss a prefix: settings, beta headers, markers without a slot, the host.
import { assemble } from "../../assembly/assemble.ts";
import { sealFoundation, type Foundation } from "../../assembly/foundation.ts";
import { openThread } from "../../assembly/thread.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { bodyText } from "../../wire/encoded-request.ts";
import type { RequestSettings } from "../../wire/foreign/foreign-request.ts";
import { readRequest } from "../../wire/foreign/read-request.ts";
import type { CallOptions, Protocol } from "../../wire/protocol.ts";

/** Small and stored with the session. */
export interface CallTraits {
  readonly settings: RequestSettings;
  readonly keepsThinking: boolean;
  /** Beta features in the header, sorted. */
  readonly betas: readonly string[];
  /** The host behind a route that switches hosts; null if the reply did not say. */
  readonly host: string | null;
  /** The last block whose marker found no free slot; null for none. */
  readonly unslotted: number | null;
}

export const plainTraits: CallTraits = {
  settings: {},
  keepsThinking: false,
  betas: [],
  host: null,
  unslotted: null,
};

export interface TraitsQuestion {
  readonly protocol: Protocol;
  readonly model: ModelFacts;
  readonly options: CallOptions;
  readonly foundation: Foundation;
  readonly plan: CachePlan;
}

/** Encodes the call without its prompt and reads its settings back, as those of any client are read. */
export function readTraits(
  question: TraitsQuestion,
): Pick<CallTraits, "settings" | "keepsThinking"> {
  const { protocol, model, options, foundation, plan } = question;
  const { tools, spelled, blocks, spelling, counter } = foundation;
  // The choice of a tool is sent only with tools.
  const count = Math.min(1, tools.length);
  const bare = sealFoundation({
    tools: tools.slice(0, count),
    system: [],
    spelled: spelled.slice(0, count),
    counts: blocks.slice(0, count).map(({ tokens }) => tokens),
    spelling,
    counter,
  });
  const assembly = assemble({
    thread: openThread(bare),
    current: [{ role: "user", content: [{ type: "text", text: "-" }] }],
    volatile: null,
    layout: { systemBlocks: "one", volatile: "message-tail", padding: "off", toolOrder: "given" },
    model,
  });
  const unmarked = { ...plan, markers: [], requestMarker: null };
  const { pieces } = protocol.encode({ assembly, plan: unmarked, model, options });
  const { settings, keepsThinking } = readRequest(bodyText(pieces), { protocol, facts: model });
  const { "cache key": _key, ...rest } = settings;
  return { settings: rest, keepsThinking };
}
