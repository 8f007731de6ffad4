// What a scenario is: who answers, and what is done.
import type { Model } from "./kit.ts";
import type { Side } from "./sides.ts";
import type { Stage } from "./stage.ts";

export interface Scenario {
  /** What the simulated model says; made anew for each protocol. */
  readonly answer: () => Model;
  /** To whoever asks for a summary; one as it was asked for by default. */
  readonly summary?: () => Model;
  readonly play: (stage: Stage) => Promise<void>;
  /** Where it makes sense on some protocols only; all by default. */
  readonly on?: readonly Side["name"][];
}

/** By name. */
export type Scenarios = Readonly<Record<string, Scenario>>;
