// People who break in: they say something while the agent works, or stop it.
import type { FaultSpec, TurnHandle } from "../kit.ts";
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Side } from "../sides.ts";
import { makeTools, toolOf } from "../world.ts";

const act = { name: "act", input: {} };

/** So many events go out whole: one of them has words. */
const stalls: Readonly<Record<Side["name"], FaultSpec>> = {
  "anthropic-messages": { kind: "stall", afterEvents: 4 },
  "openai-chat": { kind: "stall", afterEvents: 2 },
  "openai-responses": { kind: "stall", afterEvents: 5 },
};

export const interruptions: Scenarios = {
  "steered-inside-turn": {
    answer: script(
      asks("Acting.", act),
      { text: "Done, and the notes." },
      { text: "Done, and the tests." },
      { text: "Yes." },
    ),
    play: async (stage) => {
      let handle: TurnHandle | null = null;
      const tool = toolOf("act", [], () => {
        handle?.steer("And look at the tests.");
        handle?.steer("   ");
        return Promise.resolve("acted");
      });
      const process = await stage.start({ tools: [...makeTools(), tool] });
      const session = await process.engine.open({ id: "golden" });
      stage.onRequest(1, () => void handle?.steer("And read the notes."));
      handle = session.run("Act.", { id: stage.nextTurnId() });
      await process.watch(handle);
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  /** The turn was about to end: one more call answers. */
  "steered-at-the-end": {
    answer: script({ text: "Done." }, { text: "Done, too." }, { text: "Yes." }),
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      const handle = session.run("Do it.", { id: stage.nextTurnId() });
      stage.onRequest(1, () => void handle.steer("And the other one."));
      await process.watch(handle);
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  "steered-too-late": {
    answer: script({ text: "Done." }, { text: "Yes." }),
    play: async (stage) => {
      const process = await stage.start({ config: { callsMax: 1 } });
      const session = await process.engine.open({ id: "golden" });
      const handle = session.run("Do it.", { id: stage.nextTurnId() });
      stage.onRequest(1, () => void handle.steer("And the other one."));
      await process.watch(handle);
      stage.results.push({ isTaken: handle.steer("Hello?") });
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  "aborted-before-call": {
    answer: script({ text: "Hello." }, { text: "Yes." }),
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Hello.");
      const handle = session.run("Do it.", { id: stage.nextTurnId() });
      handle.abort("changed my mind");
      await process.watch(handle);
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  "aborted-while-streaming": {
    answer: script({ text: "Hello." }, { text: "A long answer. ".repeat(40) }, { text: "Yes." }),
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Hello.");
      stage.simulator.fault(stalls[stage.side.name]);
      const handle = session.run("Tell me.", { id: stage.nextTurnId() });
      await process.watch(handle, {
        onPart: ({ type }) => {
          if (type === "token") handle.abort("heard enough");
        },
      });
      await process.say(session, "Sure?");
      await process.end();
    },
  },

  "aborted-while-tools-run": {
    answer: script(asks("Acting.", look("a.ts"), act), { text: "Yes." }),
    play: async (stage) => {
      const controller = new AbortController();
      const tool = toolOf("act", [], async (_, signal) => {
        const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
        setImmediate(() => controller.abort(new Error("stop")));
        await stopped;
        throw new Error("stopped by its signal");
      });
      const process = await stage.start({ tools: [...makeTools(), tool] });
      const session = await process.engine.open({ id: "golden" });
      const { signal } = controller;
      await process.watch(session.run("Act.", { id: stage.nextTurnId(), signal }));
      await process.say(session, "Sure?");
      await process.end();
    },
  },
};
