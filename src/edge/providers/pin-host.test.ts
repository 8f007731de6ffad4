// Goal: a session stays at the host with its cache, and no longer. Method: a router that names its hosts, by a clock of our own.
import { afterEach, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { encodeOf } from "../../core/wire/openai/test-kit.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { configOf } from "../config/test-kit.ts";
import { reachProviders } from "./reach-providers.ts";
import { closeAll, closeLater, openHttp } from "./test-kit.ts";

afterEach(closeAll);

test("the last host is asked for until its cache is gone, and is let go when it is overloaded", async () => {
  const answers: readonly (readonly [number, string])[] = [
    [200, "DeepInfra"],
    [200, "Novita"],
    [429, ""],
    [200, "Together"],
    [200, "Together"],
  ];
  const asked: unknown[] = [];
  const server = await openHttp(({ bytes }, response, count) => {
    const body = JSON.parse(bytes.toString()) as { provider?: unknown };
    const [status, provider] = answers[count] ?? [500, ""];
    asked.push(body.provider ?? null);
    const message = { role: "assistant", content: "Noon." };
    const reply = { id: "1", provider, choices: [{ message, finish_reason: "stop" }] };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 200 ? reply : { error: { message: "busy" } }));
  });
  let nowMs = 0;
  const yaml = `providers: { openrouter: { base_url: "${server.url}", api_key: ${plantedKey}, retries: { attempts_max: 1 } } }`;
  const providers = closeLater(
    reachProviders({ providers: () => configOf(yaml).providers, nowMs: () => nowMs }),
  );
  const { facts } = resolveModel("openrouter/deepseek-flash");
  const { protocol, provider } = await providers.reach(facts);
  for (const minutes of [0, 5, 9, 10, 21]) {
    nowMs = minutes * 60_000;
    const request = encodeOf({ protocol, model: facts });
    await provider.send({ request, stream: false });
  }
  expect(asked).toEqual([
    null,
    { order: ["DeepInfra"], allow_fallbacks: true },
    { order: ["Novita"], allow_fallbacks: true },
    null,
    null,
  ]);
});
