// Agents that give tasks to others, and sessions that go on from another one's turn.
import type { Model, Prompt, Reply } from "../kit.ts";
import { script, textReply } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";

function isWorker({ system }: Prompt): boolean {
  return system.includes("## Working for a manager");
}

function isFork({ turns }: Prompt): boolean {
  return turns.some(({ text }) => text.includes("## You are a fork"));
}

function isAnswered({ turns }: Prompt): boolean {
  const last = turns.at(-1);
  return last?.toolResults.length !== 0 && last?.text.includes("## Your task") !== true;
}

function use(name: string, ...inputs: readonly object[]): Reply {
  const parts = inputs.map((input) => ({
    kind: "tool use" as const,
    name,
    inputJson: JSON.stringify(input),
  }));
  return { parts, stop: "tool use" };
}

/** The agent delegates, then sums up; whoever works for it looks once, then reports. */
function delegates(...tasks: readonly object[]): () => Model {
  return () => (prompt) => {
    if (isWorker(prompt) || isFork(prompt)) {
      return isAnswered(prompt)
        ? textReply("Report: a.ts is fine.")
        : use("look", { path: "a.ts" });
    }
    return isAnswered(prompt) ? textReply("The reports are in.") : use("delegate", ...tasks);
  };
}

const worker = { task: "Look at a.ts and say whether it is fine." };

export const subAgents: Scenarios = {
  "sub-agent-worker": {
    answer: delegates(worker),
    play: async (stage) => {
      const process = await stage.start({ delegation: {} });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Have a.ts looked at.");
      await process.end();
    },
  },

  "sub-agent-fork": {
    answer: delegates({ ...worker, kind: "fork" }),
    play: async (stage) => {
      const process = await stage.start({ delegation: {} });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Have a.ts looked at.");
      await process.end();
    },
  },

  /** One after the other, so that the order is the same in every run. */
  "sub-agents-two": {
    answer: delegates(worker, { task: "Say what a.ts is for.", toolset: "none" }),
    play: async (stage) => {
      const process = await stage.start({ delegation: { atOnceMax: 1 } });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Have a.ts looked at, twice.");
      await process.end();
    },
  },

  "sub-agent-failing": {
    answer: delegates(worker),
    play: async (stage) => {
      const process = await stage.start({ delegation: {} });
      const session = await process.engine.open({ id: "golden" });
      stage.onRequest(2, () =>
        Response.json(
          { error: { type: "invalid_request_error", message: "No." } },
          { status: 400 },
        ),
      );
      await process.say(session, "Have a.ts looked at.");
      await process.end();
    },
  },

  "session-forked": {
    answer: script(...[1, 2, 3, 4].map((number) => ({ text: `Answer ${number}.` }))),
    play: async (stage) => {
      const process = await stage.start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "One.");
      await process.say(session, "Two.");
      const fork = await process.engine.fork({ sessionId: "golden", turnId: "turn-1", id: "fork" });
      await process.say(fork, "Another two.");
      const head = await process.engine.fork({ sessionId: "golden", id: "second fork" });
      await process.say(head, "Three.");
      await process.end();
    },
  },
};
