// Histories that get too long by our own count, or that a user wants shorter.
import { cheapCounter, createTokenCounter, resolveModel, type EngineSession } from "../kit.ts";
import { setup, small, soon, talk } from "../long-talk.ts";
import type { Process } from "../process.ts";
import { asks, briefly, look, script, textReply } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { textOf } from "../world.ts";

/** A compaction, in what a user sees of it. The records say `compacted` for compacted. */
function note(stage: Stage, run: Awaited<ReturnType<EngineSession["compact"]>>): void {
  const isUnchanged = run.kind === "unchanged";
  stage.results.push({
    fold: isUnchanged ? "unchanged" : "folded",
    why: isUnchanged ? run.why : null,
  });
}

export const compaction: Scenarios = {
  "compaction-before-turn": {
    answer: briefly,
    play: async (stage) => {
      const process = await stage.start(setup(soon));
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1, 2, 3, 4, 5, 6]);
      await process.end();
      const other = await stage.start(setup(soon));
      await talk(stage, other, await other.engine.resume("golden"), [7], 5);
      await other.end();
    },
  },

  /** One result alone is too large, and is shown in part. */
  "compaction-inside-turn": {
    answer: script(
      { text: "Hello." },
      ...[1, 2, 3, 4].map((number) =>
        asks(`Reading part ${number}.`, look(`part-${number}.ts`, { lines: 90 })),
      ),
      asks("Reading a large one.", look("large.ts", { lines: 500 })),
      { text: "Done, nothing is wrong.", times: "always" },
    ),
    play: async (stage) => {
      const process = await stage.start(setup(soon));
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Hello.");
      await process.say(session, "Read them all.");
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  "compaction-by-hand": {
    answer: briefly,
    play: async (stage) => {
      const process = await stage.start(setup(small));
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1], 5);
      note(stage, await session.compact());
      await talk(stage, process, session, [2, 3, 4, 5]);
      const plan = await session.planCompaction();
      const { kind, turns, numbers } = plan;
      stage.results.push({ plan: kind === "compaction" ? "fold" : kind, turns, numbers });
      note(stage, await session.compact({ focus: "what step 2 came to" }));
      await talk(stage, process, session, [6], 5);
      await process.end();
      const other = await stage.start(setup(small));
      const again = await other.engine.resume("golden");
      await talk(stage, other, again, [7], 5);
      await other.end();
    },
  },

  /** The turn goes out all the same, and what was paid in vain is booked. */
  "compaction-failing": {
    answer: briefly,
    summary: () => () => textReply(""),
    play: async (stage) => {
      const process = await stage.start(setup(soon));
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1, 2, 3, 4, 5]);
      note(stage, await session.compact());
      await talk(stage, process, session, [6], 5);
      await process.end();
    },
  },

  /** Where nothing else fits, notes that no model wrote stand for the history. */
  "compaction-without-model": {
    answer: briefly,
    summary: () => () => textReply(""),
    play: async (stage) => {
      const process = await stage.start(setup(small));
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1, 2, 3, 4, 5], 190);
      await process.end();
    },
  },

  /** Chat has no compaction of its own. */
  "compaction-at-provider": {
    on: ["anthropic-messages", "openai-responses"],
    answer: () => () => textReply(textOf("reply.ts", 70)),
    play: async (stage) => {
      const config = setup({ ...small, mayUseProvider: true });
      const process = await stage.start(config);
      const isAnthropic = stage.side.name === "anthropic-messages";
      const session = await process.engine.open({
        id: "golden",
        ...(isAnthropic ? { model: stage.side.otherModel } : {}),
      });
      await talk(stage, process, session, [1, 2, 3, 4], 5);
      note(stage, await session.compact());
      await talk(stage, process, session, [5], 5);
      await process.end();
      const other = await stage.start(config);
      await talk(stage, other, await other.engine.resume("golden"), [6], 5);
      await other.end();
    },
  },

  "compaction-by-another-model": {
    answer: briefly,
    play: async (stage) => {
      const { protocol, otherModel } = stage.side;
      const { facts: model } = resolveModel(otherModel);
      const counter = createTokenCounter(cheapCounter, model.tokenizer);
      const options = { outputTokensMax: 2_000, stream: true };
      const process: Process = await stage.start(
        setup(small, {
          deps: {
            summariser: () => {
              const { provider } = process.reach();
              return Promise.resolve({ model, protocol, provider, counter, options });
            },
          },
        }),
      );
      const session = await process.engine.open({ id: "golden" });
      await talk(stage, process, session, [1, 2, 3, 4]);
      note(stage, await session.compact());
      await talk(stage, process, session, [5], 5);
      await process.end();
    },
  },

  /** Old results go before anything is summarised. */
  "compaction-clears-results": {
    answer: script(
      ...[1, 2, 3, 4].flatMap((number) => [
        asks(`Reading part ${number}.`, look(`part-${number}.ts`, { lines: 100 })),
        { text: `Part ${number} is fine.` },
      ]),
    ),
    play: async (stage) => {
      const clearing = { ...soon.clearing, tools: ["look"], thresholdBytes: 2_000 };
      const process = await stage.start(
        setup({ ...soon, clearing: { ...clearing, resultsKept: 1, gainTokensMin: 500 } }),
      );
      const session = await process.engine.open({ id: "golden" });
      for (let turn = 1; turn <= 4; turn += 1) await process.say(session, `Read part ${turn}.`);
      await process.end();
    },
  },
};
