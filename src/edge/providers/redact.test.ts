import { expect, test } from "vitest";
import { createRedact } from "./redact.ts";

test("a key is taken out wherever a server repeats it, with its scheme or without", () => {
  const redact = createRedact({ authorization: "Bearer sk-0123456789", "x-team": "t1" });
  expect(redact("Incorrect API key provided: sk-0123456789.")).toBe(
    "Incorrect API key provided: [redacted].",
  );
  expect(redact("got 'Bearer sk-0123456789' from t1")).toBe("got '[redacted]' from t1");
});

test("what is too short to be a secret is left alone", () => {
  expect(createRedact({ "x-api-key": "x" })("next exit")).toBe("next exit");
  expect(createRedact({ "x-api-key": "" })("next exit")).toBe("next exit");
});
