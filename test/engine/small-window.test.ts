// Goal: a window that is configured too small is an error that says what to do, never a loop. Method: turns on the simulator
// with a window below tools and system text, from the start and as a change while the engine runs.
import { expect, test } from "vitest";
import { makePlace, plantedKey, serve, start } from "./test-kit.ts";

const configOf = (url: string, window: number): string => `
context_optimization: { compaction: { enabled: true } }
models: { default: claude-sonnet-4-6, override: { claude-sonnet-4-6: { window: ${window} } } }
providers:
  anthropic: { base_url: "${url}", api_key: ${plantedKey} }
`;

test("a window below tools and system text is refused before a call, also after a change", async () => {
  const place = makePlace();
  const { url, simulator } = await serve();
  place.put("AGENTS.md", "Be brief. ".repeat(3000));
  place.configure(configOf(url, 1));
  const { engine } = await start(place);
  const session = await engine.open();
  const refusal = {
    code: "config-invalid",
    message: expect.stringMatching(
      /^tools and system text have about \d+ tokens, and the window of claude-sonnet-4-6 has 1$/,
    ),
    hint: expect.stringContaining("correct models.override.claude-sonnet-4-6.window"),
  };
  await expect(session.run("Hello.").result).rejects.toMatchObject(refusal);
  expect(simulator.calls()).toEqual([]);
  place.configure(configOf(url, 100_000));
  for (let turn = 0; turn < 4; turn += 1) {
    expect((await session.run(`Read this: ${"word ".repeat(2000)}`).result).end).toBe("done");
  }
  place.configure(configOf(url, 1));
  await expect(session.run("Again.").result).rejects.toMatchObject(refusal);
  expect(simulator.calls()).toHaveLength(4);
});

test("a compaction in a window without room for a summary ends, and leaves the session unchanged", async () => {
  const place = makePlace();
  const { url, simulator } = await serve();
  place.configure(configOf(url, 100_000));
  const first = await start(place);
  const session = await first.engine.open({ id: "s" });
  for (let turn = 0; turn < 6; turn += 1) {
    await session.run(`Read this: ${"word ".repeat(8000)}`).result;
  }
  await first.close();
  const calls = simulator.calls().length;
  place.configure(configOf(url, 1));
  const { engine } = await start(place);
  const { kind } = await (await engine.session("s")).compact();
  expect(kind).toBe("unchanged");
  expect(simulator.calls()).toHaveLength(calls);
});
