// Prompts that the provider finds too long.
import type { FaultSpec } from "../kit.ts";
import { setup, small, talk } from "../long-talk.ts";
import { briefly } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";

const tooLong: FaultSpec = { kind: "overflow", tokens: 213_462, tokensMax: 200_000 };

export const overflow: Scenarios = {
  "overflow-recovered": {
    answer: briefly,
    play: async (stage) => {
      const process = await stage.start(setup(small));
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1, 2, 3, 4]);
      stage.simulator.fault(tooLong);
      await talk(stage, process, session, [5, 6]);
      await process.end();
    },
  },

  "overflow-twice": {
    answer: briefly,
    play: async (stage) => {
      const process = await stage.start(setup(small));
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1, 2, 3, 4]);
      stage.simulator.fault(tooLong);
      // The sixth asks for a summary.
      stage.onRequest(7, () => stage.simulator.fault(tooLong));
      await talk(stage, process, session, [5, 6]);
      await process.end();
    },
  },

  /** Nothing is there that could be made shorter. */
  "overflow-at-once": {
    answer: briefly,
    play: async (stage) => {
      const process = await stage.start(setup(small));
      const session = await process.engine.open({ id: "golden" });
      stage.simulator.fault(tooLong);
      await talk(stage, process, session, [1, 2], 5);
      await process.end();
    },
  },
};
