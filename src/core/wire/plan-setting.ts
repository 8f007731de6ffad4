// How the cache of one request is planned without a session: what a caller may set, and what is usual.
import { openCacheState, type CacheState } from "../cache/cache-state.ts";
import { openPace, type Pace } from "../cache/pace.ts";
import { findPolicy } from "../cache/policies.ts";
import type { Policy } from "../cache/policy.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { cheapCounter } from "../tokens/cheap-counter.ts";
import type { TextCounter } from "../tokens/o200k/counter.ts";
import type { Protocol } from "./protocol.ts";

export interface PlanSetting {
  /** `adaptive` by default. */
  readonly policy?: Policy;
  readonly counter?: TextCounter;
  /** Facts of the model on its route; looked up by the request's name by default. */
  readonly model?: ModelFacts;
  /** The one of the request or of the model's provider by default. */
  readonly protocol?: Protocol;
  /** What earlier calls taught; nothing by default. */
  readonly state?: CacheState;
  /** Human by default. */
  readonly pace?: Pace;
}

type WithUsual = Required<Pick<PlanSetting, "policy" | "counter" | "state" | "pace">>;

export function withUsual({
  policy = findPolicy("adaptive"),
  counter = cheapCounter,
  state = openCacheState(),
  pace = openPace("human"),
}: PlanSetting): WithUsual {
  return { policy, counter, state, pace };
}
