// Sessions that go to another model and come back.
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Side } from "../sides.ts";

const answers = script(
  { text: "Answer 1." },
  asks("Looking.", look("a.ts")),
  { text: "Answer 2." },
  { text: "Answer 3." },
  { thinking: "What else?", text: "Answer 4." },
  { text: "Answer 5." },
  { text: "Answer 6." },
);

export const models: Scenarios = {
  "models-there-and-back": {
    answer: answers,
    play: async (stage) => {
      const { model, otherModel } = stage.side;
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "One.");
      stage.results.push({ change: await session.useModel(otherModel) });
      await process.say(session, "Two.");
      stage.results.push({ change: await session.useModel(model) });
      await process.say(session, "Three.");
      await process.say(session, "Four.", { model: otherModel });
      await process.end();
      const other = await stage.start();
      const again = await other.engine.resume("golden");
      await other.say(again, "Five.");
      await other.say(again, "Six.", { model: "no-such-model" });
      await other.end();
    },
  },

  "models-routed": {
    answer: answers,
    play: async (stage) => {
      const { otherModel: model } = stage.side;
      const routing = {
        isSticky: false,
        rules: [],
        patterns: [{ model, match: "^quick" }],
        workspaceDefault: null,
      };
      const process = await stage.start({ config: { routing } });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Explain the parser.");
      await process.say(session, "quick: which file is it in?");
      await process.say(session, "And who calls it?");
      await process.end();
    },
  },

  /** To a model of the other provider, in another protocol. */
  "models-across-protocols": {
    answer: answers,
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "One.");
      await process.say(session, "Two.", { model: strangerOf[stage.side.name] });
      await process.say(session, "Three.");
      await process.end();
    },
  },
};

/** By another provider than the side's own. */
const strangerOf: Readonly<Record<Side["name"], string>> = {
  "anthropic-messages": "gpt-5.5",
  "openai-chat": "claude-sonnet-4-6",
  "openai-responses": "claude-sonnet-4-6",
};
