// A process ends in the middle of something, and another one goes on.
import type { Process } from "../process.ts";
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { makeTools, toolOf } from "../world.ts";

const talk = script(
  { text: "Hello." },
  asks("Looking.", look("a.ts"), look("b.ts", { after: "a.ts" })),
  { text: "It is line 3 of b.ts." },
  { text: "You are welcome." },
  { text: "Goodbye." },
);

/** One whole turn, then one that hangs at the request of that number. */
async function crashAt(stage: Stage, request: number): Promise<Process> {
  const process = await stage.start();
  const session = await process.engine.open({ id: "golden" });
  await process.say(session, "Hello.");
  const hangs = stage.hangAt(request);
  void process.watch(session.run("Why is CI red?", { id: stage.nextTurnId() }));
  await hangs;
  await leave(stage, process);
  return process;
}

/** What it told is stored; its lease runs out. */
async function leave(stage: Stage, process: Process): Promise<void> {
  await process.events.flush();
  await stage.pass(60_000);
}

async function goOn(stage: Stage): Promise<void> {
  const process = await stage.start();
  const session = await process.engine.resume("golden");
  await process.watch(session.resume());
  await stage.pass(10_000);
  await process.say(session, "Thank you.");
  await process.end();
}

export const resume: Scenarios = {
  "resume-before-reply": {
    answer: talk,
    play: async (stage) => {
      await crashAt(stage, 2);
      await goOn(stage);
    },
  },

  "resume-between-calls": {
    answer: talk,
    play: async (stage) => {
      await crashAt(stage, 3);
      await goOn(stage);
    },
  },

  "resume-while-tools-run": {
    answer: script({ text: "Hello." }, asks("Looking.", { name: "wait", input: {} }), {
      text: "Done.",
      times: "always",
    }),
    play: async (stage) => {
      const runs = Promise.withResolvers<void>();
      const hanging = toolOf("wait", [], (_, signal) => {
        runs.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
      });
      const process = await stage.start({ tools: [...makeTools(), hanging] });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Hello.");
      const handle = session.run("Wait.", { id: stage.nextTurnId() });
      void process.watch(handle);
      await runs.promise;
      await leave(stage, process);
      const other = await stage.start({
        tools: [...makeTools(), toolOf("wait", [], () => Promise.resolve("waited"))],
      });
      const again = await other.engine.resume("golden");
      await other.watch(again.resume());
      await other.say(again, "Thank you.");
      await other.end();
    },
  },

  "resume-after-turn": {
    answer: talk,
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Hello.");
      await process.say(session, "Why is CI red?");
      await process.end();
      await stage.pass(120_000);
      const other = await stage.start();
      const again = await other.engine.resume("golden");
      await other.say(again, "Thank you.");
      await other.end();
    },
  },

  /** Where a turn is open nothing else runs, until it is gone on with or given up. */
  "resume-abandoned": {
    answer: talk,
    play: async (stage) => {
      await crashAt(stage, 3);
      const process = await stage.start();
      const unfinished = await process.ledger.findUnfinished("golden");
      stage.results.push({ unfinished });
      const session = await process.engine.resume("golden");
      await process.watch(session.run("Never mind.", { id: stage.nextTurnId() }));
      await process.ledger.abandonTurn("golden");
      const again = await process.engine.resume("golden");
      await process.say(again, "Thank you.");
      await process.end();
    },
  },
};
