// Random messages: decoding and encoding gives the same bytes, and validating never throws.
import { createRandom, randomMessageText } from "../harness/random-message.ts";
import { exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { brokenPromises } from "../harness/round-trip.ts";

export const experiment: Experiment = {
  summary: "random messages round-trip to the byte and validate without a throw",
  options: { count: "how many messages, 100000 by default", seed: "where to start, 1 by default" },
  run(settings) {
    const count = wholeNumber(settings, "count", 100_000);
    const seed = wholeNumber(settings, "seed", 1);
    const { progress } = settings;
    const random = createRandom(seed);
    let broken = 0;
    let bytes = 0;
    for (let index = 0; index < count; index += 1) {
      const text = randomMessageText(random);
      bytes += text.length;
      const found = brokenPromises(text);
      if (found.length > 0) {
        broken += 1;
        progress(`${found.join(", ")}: ${text}`);
      }
      if ((index + 1) % 100_000 === 0) progress(`${index + 1} of ${count}`);
    }
    return Promise.resolve({
      figures: { messages: count, seed, characters: bytes },
      checks: [exactly("messages that break a promise", broken, 0)],
    });
  },
};
