// The same short session by every way to lay a prompt out and to mark it.
import { findPolicy, type EngineConfig, type Policy, type World } from "../kit.ts";
import { asks, look, script } from "../replies.ts";
import type { Scenario, Scenarios } from "../scenario.ts";

function under(policy: NonNullable<EngineConfig["policy"]>): Scenario {
  return {
    answer: script(asks("Looking.", look("a.ts")), { text: "It is line 3." }, { text: "Sure." }),
    play: async (stage) => {
      let calls = 0;
      const volatile: NonNullable<World["volatile"]> = () => {
        calls += 1;
        const text = `## Mail\n\n${calls} new messages`;
        return Promise.resolve([{ name: "mail", layer: "event", stability: "turn", text }]);
      };
      const process = await stage.start({ config: { policy }, volatile });
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Why is CI red?");
      await stage.pass(20_000);
      await process.say(session, "Sure?");
      await process.end();
    },
  };
}

function withVolatile(volatile: Policy["layout"]["volatile"]): Policy {
  const policy = findPolicy("adaptive");
  return { ...policy, layout: { ...policy.layout, volatile } };
}

/** Three of them say what is volatile at the end of the system prompt, one before the message, one after it. */
export const policies: Scenarios = {
  "policy-adaptive": under("adaptive"),
  "policy-metis": under("metis"),
  "policy-nexo": under("nexo"),
  "policy-hermes": under("hermes"),
  "policy-nexus": under("nexus"),
  "policy-automatic": under("automatic"),
  "volatile-system-message": under(withVolatile("system-message")),
};
