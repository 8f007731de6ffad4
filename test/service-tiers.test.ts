// Goal: a call on a cheaper or a faster service costs in the ledger what the provider bills for it. Method: an engine on the simulator,
// on each API and tier, whole and streamed; the simulator's own bill.
import { expect, onTestFinished, test } from "vitest";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { openEngine } from "../src/index.ts";
import { createEcho, createSimulator } from "../src/simulator/index.ts";

const openai = { model: "gpt-6.1-sol", key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL", path: "/v1" };
const claude = {
  model: "claude-opus-5",
  key: "ANTHROPIC_API_KEY",
  url: "ANTHROPIC_BASE_URL",
  path: "",
};

/** The costs of one call, as the ledger and as the provider have them, and what the ledger notes. */
async function costsOf(
  { model, key, url, path }: typeof openai,
  stream: boolean,
  extraJson: Readonly<Record<string, string>>,
): Promise<
  readonly [bigint | null | undefined, string | null | undefined, readonly string[], unknown]
> {
  const simulator = createSimulator({ seed: 1, model: createEcho() });
  const server = await simulator.listen({ port: 0 });
  onTestFinished(() => server.close());
  const engine = await openEngine({
    model,
    options: { stream, extraJson },
    env: { [key]: process.env["PLANTED_KEY"] ?? "", [url]: `${server.url}${path}` },
    counter: cheapCounter,
  });
  onTestFinished(() => engine.close());
  const { calls, end } = await (await engine.open()).run("Hello.").result;
  expect(end).toBe("done");
  const [call] = calls;
  const notes = call?.notes.map(({ detail }) => detail) ?? [];
  const kept = await engine.ledger.readCalls(call?.turnId ?? "");
  const billed = simulator.calls().at(-1)?.billed?.costUsd;
  return [call?.costPicoUsd, billed, notes, kept[0]?.serviceTier];
}

function toUsd(pico: bigint | null | undefined): number {
  return Number(pico) / 1e12;
}

test.each([
  ["flex on Responses", openai, { service_tier: '"flex"' }, 0.5],
  ["fast mode of Claude", claude, { speed: '"fast"' }, 2],
])("%s is booked as it is billed", async (_name, place, extra, share) => {
  for (const stream of [false, true]) {
    const [usual] = await costsOf(place, stream, {});
    const [booked, billed] = await costsOf(place, stream, extra);
    expect(toUsd(booked)).toBeCloseTo(Number(billed?.slice(1)), 12);
    expect(toUsd(booked)).toBeCloseTo(share * toUsd(usual), 12);
  }
});

test("a tier whose price is not known has no cost, and the call says why", async () => {
  const [booked, billed, notes, tier] = await costsOf(openai, true, { service_tier: '"priority"' });
  expect([booked, billed]).toEqual([null, null]);
  expect(tier).toBe("priority");
  expect(notes).toContain("no price is known for the service tier priority");
});
