import { expect, test } from "vitest";
import { bodyText } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";
import { plainOptions } from "../test-kit.ts";
import { prewarm } from "./prewarm.ts";
import { assemblyOf, bodyOf, haiku, planOf, sonnet, tool } from "./test-kit.ts";
import type { ModelFacts } from "../../models/model-facts.ts";

const setting = { tools: [tool("read")], system: ["Rules."], model: haiku };

function obstacleTo(options: Partial<CallOptions>, model: ModelFacts = haiku): string | null {
  const assembly = assemblyOf({ ...setting, model });
  return prewarm.findObstacle({
    assembly,
    plan: planOf(),
    model,
    options: { ...plainOptions, ...options },
  });
}

test("is the same request without a reply and without a stream", () => {
  const options = { ...plainOptions, stream: true, effort: "low" };
  const call = { assembly: assemblyOf(setting), plan: planOf(), model: haiku, options };
  const whole = bodyOf(setting, planOf(), options);
  expect(bodyText(prewarm.encode(call).pieces)).toBe(
    whole.replace('"max_tokens":100,"stream":true', '"max_tokens":0'),
  );
});

test("is not possible with what the provider refuses then, also in the application's own spelling", () => {
  expect(obstacleTo({})).toBe(null);
  expect(obstacleTo({ toolChoice: "auto", effort: "low" })).toBe(null);
  const budget = '{"type":"enabled","budget_tokens":1024}';
  expect(obstacleTo({ thinkingJson: budget })).toBe("thinking with a budget");
  // The model decides itself how much it thinks: the budget is not sent.
  expect(obstacleTo({ thinkingJson: budget }, sonnet)).toBe(null);
  expect(obstacleTo({ outputSchemaJson: "{}" }, sonnet)).toBe("a schema of the reply");
  expect(obstacleTo({ extraJson: { output_config: '{"format":{}}' } })).toBe(
    "a schema of the reply",
  );
  expect(obstacleTo({ toolChoice: "any" })).toBe("a tool that the model must call");
  expect(obstacleTo({ toolChoice: { name: "read" } })).toBe("a tool that the model must call");
  const plan = planOf([], { requestMarker: "5m" });
  const call = { assembly: assemblyOf(setting), model: haiku, options: plainOptions };
  expect(prewarm.findObstacle({ ...call, plan })).toBe("a marker for the whole request");
});
