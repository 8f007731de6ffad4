// Turns of the engine's own loop: with tools, thoughts and other things that a plain session has.
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Stage } from "../stage.ts";

const talk = script(
  asks(
    "Looking at three places.",
    look("a.ts"),
    look("b.ts", { after: "a.ts" }),
    look("c.ts", { after: "b.ts" }),
  ),
  asks("Two more.", { name: "find", input: { name: "d.ts" } }),
  asks("One more.", { name: "burst", input: {} }),
  { text: "It is line 3 of b.ts." },
  { text: "You are welcome." },
  asks("Looking again.", look("e.ts"), { name: "nothing", input: {} }),
  { text: "No, that was all. ".repeat(40) },
);

async function play(stage: Stage, stream: boolean): Promise<void> {
  const process = await stage.start({ stream });
  const session = await process.engine.open({ id: "golden" });
  await process.say(session, "Why is CI red?");
  await stage.pass(20_000);
  await process.say(session, "Thank you.");
  if (stream) {
    await stage.pass(400_000);
    await process.say(session, "Anything else?");
  }
  await process.end();
}

export const turns: Scenarios = {
  "turns-streamed": { answer: talk, play: (stage) => play(stage, true) },
  "turns-whole": { answer: talk, play: (stage) => play(stage, false) },

  /** Thoughts are kept where the provider wants them back. */
  "turns-with-thinking": {
    answer: script(
      { thinking: "The parser is in one file.", ...asks("Looking.", look("parse.ts")) },
      { thinking: "There it is.", text: "In parse.ts." },
      { thinking: "Nothing to add.", text: "Yes." },
    ),
    play: async (stage) => {
      const isAnthropic = stage.side.name === "anthropic-messages";
      const process = await stage.start();
      const session = await process.engine.open({
        id: "golden",
        ...(isAnthropic ? { model: "claude-sonnet-5-5" } : {}),
      });
      await process.say(session, "Where is the parser?");
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  /** An event with all it can say, on a conversation that was brought along. */
  "turns-of-events": {
    answer: script({ text: "Noted." }, { text: "Noted, too." }),
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({
        id: "golden",
        messages: [
          { role: "user", content: [{ type: "text", text: "Hello." }] },
          { role: "assistant", content: [{ type: "text", text: "Hello, who is there?" }] },
        ],
      });
      const event = {
        content: "The build failed.",
        source: "ci",
        timezone: "Europe/Berlin",
        platform: "mail",
        platformActions: ["reply", "archive"],
        hookData: [
          { text: "Branch: main.", persist: true },
          { text: "The queue is empty.", persist: false },
        ],
      };
      await process.watch(session.run(event, { id: stage.nextTurnId() }));
      await process.say(session, "And now?");
      await process.end();
    },
  },

  "too-many-calls": {
    answer: script({ ...asks("Again.", look("a.ts")), times: "always" }),
    play: async (stage) => {
      const process = await stage.start({ config: { callsMax: 3 } });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Look until you find it.");
      await process.say(session, "And now?");
      await process.end();
    },
  },

  /** The longest reply is shorter than what the model says. */
  "cut-off": {
    answer: script({ ...asks("Looking.", look("a.ts")), stop: "output limit" }, { text: "Fine." }),
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Look.");
      await process.say(session, "And now?");
      await process.end();
    },
  },
};
