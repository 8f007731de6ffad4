import { expect, test } from "vitest";
import { createRandom } from "../../../harness/random-message.ts";
import { createRandomSession, toBillableBlocks } from "../../../harness/random/random-sessions.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { createBilling } from "./billing.ts";
import { createGrowingPrompt } from "./growing-prompt.ts";

test.each(["claude-sonnet-4-6", "bedrock/anthropic.claude-sonnet-4-6", "gpt-6.1-sol"])(
  "a prompt that grows and is cut on %s is billed as one that is made anew",
  (name) => {
    const model = resolveModel(name).facts;
    const random = createRandom(5);
    const bills = { grown: [] as unknown[], anew: [] as unknown[] };
    for (let number = 0; number < 200; number += 1) {
      const { foundation, calls } = createRandomSession(random, 8);
      const [grownBilling, anewBilling] = [createBilling(), createBilling()];
      const frame = { workspace: "w", model, settings: {} };
      const prompt = createGrowingPrompt(frame);
      let sent = [...foundation];
      let startMs = 0;
      for (const [index, call] of calls.entries()) {
        const kept = random() < 0.2 ? Math.floor(random() * sent.length) : sent.length;
        sent = [...sent.slice(0, kept), ...call.added];
        startMs += call.gapMs;
        const blocks = toBillableBlocks(sent);
        // Where a group of results ends depends on the next block, so the last kept block is rebuilt too.
        prompt.cut(Math.max(0, kept - 1));
        prompt.append(blocks.slice(prompt.blocks.length));
        const lifetime = model.cache.lifetimes[0]?.lifetime ?? "5m";
        const markers = [
          { block: Math.floor(random() * blocks.length), lifetime, origin: "explicit" as const },
        ];
        const request = { id: `${index}`, ...frame, markers, mode: "implicit" as const, startMs };
        const grown = grownBilling.open({ ...request, blocks: prompt.blocks, prompt });
        const anew = anewBilling.open({ ...request, blocks });
        grown.begin();
        anew.begin();
        bills.grown.push(grown.bill);
        bills.anew.push(anew.bill);
      }
    }
    expect(bills.grown).toEqual(bills.anew);
  },
);
