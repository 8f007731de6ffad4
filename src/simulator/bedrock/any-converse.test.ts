// Goal: no request crashes the surface. Method: valid requests with random values in random places.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createKit, point, point1h, said, tool, type Any } from "./test-kit.ts";

const request = {
  system: [{ text: "Be brief." }, point1h],
  toolConfig: { tools: [tool("read"), point1h], toolChoice: { auto: {} } },
  inferenceConfig: { maxTokens: 50, stopSequences: ["STOP"] },
  outputConfig: { effort: "low" },
  additionalModelRequestFields: { thinking: { type: "adaptive" }, anthropic_beta: ["a"] },
  additionalModelResponseFieldPaths: ["/stop_sequence"],
  requestMetadata: { user: "me" },
  serviceTier: { type: "default" },
  performanceConfig: { latency: "standard" },
  messages: [
    said("hi", { image: { format: "png", source: { bytes: "iVBO" } } }),
    {
      role: "assistant",
      content: [
        { text: "ok" },
        { toolUse: { toolUseId: "a", name: "read", input: { path: "x" } } },
      ],
    },
    {
      role: "user",
      content: [
        {
          toolResult: {
            toolUseId: "a",
            status: "success",
            content: [{ text: "done" }, { json: { a: 1 } }],
          },
        },
        { document: { format: "md", name: "page", source: { text: "page" } } },
        { guardContent: { text: { text: "guarded" } } },
        point,
      ],
    },
  ],
};

test("the request the others are made of is accepted", () => {
  const { status, text } = createKit().converse(request);
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
});

test("whatever stands in a request, the answer is a reply or a refusal, and counts as it is billed", () => {
  const kit = createKit();
  const oddities = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>("", [], {}, null, point.cachePoint, "system", -1, 1e99, "AA=="),
  );
  const steps = fc.array(fc.nat(), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(steps, oddities, (way, oddity) => {
      const body: Any = withOddity(request, way, oddity);
      const { status } = kit.converse(body);
      expect([200, 400]).toContain(status);
      const billed = status === 200 ? kit.records.at(-1)?.bill.totalTokens : null;
      const counted =
        status === 200 ? kit.post("count-tokens", { input: { converse: body } }) : null;
      expect(counted === null ? null : counted.body.inputTokens).toBe(billed);
    }),
    { numRuns: 500 },
  );
});

/** Follows the path and puts the odd value at its end, sometimes under a new name. */
function withOddity(value: unknown, steps: readonly number[], oddity: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return oddity;
  const copy: Any = Array.isArray(value) ? [...value] : { ...value };
  const keys = [...Object.keys(value), ...(Array.isArray(value) ? [] : ["cachePoint", "odd"])];
  const key = keys[step % keys.length];
  if (key === undefined) return oddity;
  copy[key] = withOddity(copy[key], rest, oddity);
  return copy;
}
