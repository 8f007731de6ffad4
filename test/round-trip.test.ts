// Goal: no byte of a message is ever lost. Method: random JSON text with all that JavaScript would change.
import { expect, test } from "vitest";
import { createRandom, randomMessageText } from "../harness/random-message.ts";
import { brokenPromises } from "../harness/round-trip.ts";

test("100,000 random messages come back to the byte and validate without a throw", () => {
  const random = createRandom(20_261_115);
  const texts = Array.from({ length: 100_000 }, () => randomMessageText(random));
  const broken = texts.flatMap((text) =>
    brokenPromises(text).map((promise) => `${promise}: ${text}`),
  );
  expect(broken).toEqual([]);
  expect(new Set(texts).size).toBeGreaterThan(80_000);
});
