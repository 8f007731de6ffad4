import { expect, test } from "vitest";
import { eventFrame, exceptionFrame } from "./frames.ts";

test("an event is a frame with two lengths, two checksums and three headers", () => {
  // Made by AWS's own codec from the same headers and payload.
  expect(Buffer.from(eventFrame("x", "{}")).toString("hex")).toBe(
    "0000005900000047b899a6e00b3a6576656e742d74797065070001780d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b7dbd2206c9",
  );
});

test("an exception is a frame whose name begins with a small letter", () => {
  const text = Buffer.from(exceptionFrame("ThrottlingException", "Slower!")).toString("latin1");
  expect(text).toContain(":exception-type");
  expect(text).toContain("throttlingException");
  expect(text).toContain('{"message":"Slower!"}');
  expect(text).toContain("exception");
});
