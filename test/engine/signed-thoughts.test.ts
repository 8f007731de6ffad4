// Goal: what Gemini signed comes back as it was, and a model never gets another one's signature. Method: turns on simulators that
// refuse a missing, changed or foreign signature as the API does.
import { describe, expect, test } from "vitest";
import { createScripted, type FaultSpec, type ScriptStep } from "../../src/simulator/index.ts";
import { makePlace, plantedKey, serve, start, type Place, type Served } from "./test-kit.ts";

const flash = "gemini-3.8-flash";
const older = "gemini-3.7-flash";
const sonnet = "claude-sonnet-5-5";

interface Scene {
  readonly place: Place;
  readonly google: Served;
  readonly claude: Served;
  readonly bodies: readonly string[];
}

async function setUp(
  steps: { readonly google: readonly ScriptStep[]; readonly claude?: readonly ScriptStep[] },
  settings: string,
): Promise<Scene> {
  const place = makePlace();
  const bodies: string[] = [];
  const google = await serve(
    { model: createScripted(steps.google) },
    (_, body) => void bodies.push(body),
  );
  const claude = await serve({ model: createScripted(steps.claude ?? []) });
  place.put("AGENTS.md", "Be brief, and say where you looked. ".repeat(1500));
  place.configure(`
${settings}
providers:
  google: { base_url: "${google.url}", api_key: ${plantedKey}, retries: { attempts_max: 1 } }
  anthropic: { base_url: "${claude.url}", api_key: ${plantedKey}, retries: { attempts_max: 1 } }
`);
  return { place, google, claude, bodies };
}

const look: ScriptStep = {
  thinking: "The file says it.",
  text: "I look into the files.",
  toolCalls: [
    { name: "read", input: { path: "AGENTS.md" } },
    { name: "list", input: {} },
  ],
};

const said: ScriptStep = { thinking: "That is enough.", text: "It is in AGENTS.md." };

function signaturesIn(body: string | undefined): readonly string[] {
  return [...(body ?? "").matchAll(/"thoughtSignature":"([^"]+)"/g)].map(([, each = ""]) => each);
}

describe("a session with a model that signs", () => {
  test("sends every signature back at its place, reads its prefix, and does so after it was resumed", async () => {
    const steps = [look, said, look, said, look, said];
    const { place, google, bodies } = await setUp(
      { google: steps },
      `models: { default: ${flash} }`,
    );
    const started = await start(place);
    const session = await started.engine.open({ id: "s" });
    const turns = [
      await session.run("Where is it?").result,
      await session.run("And the rest?").result,
    ];
    await started.close();
    const again = await (await start(place)).engine.resume("s");
    turns.push(await again.run("And now?").result);
    expect(turns.map(({ end }) => end)).toEqual(["done", "done", "done"]);
    expect(google.simulator.calls().map(({ status }) => status)).toEqual(Array(6).fill(200));
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1] ?? "";
      // Every request begins with the one before, up to its last content, which is for that call alone.
      const stored = before.slice(0, before.lastIndexOf(',{"role":"user"'));
      expect(body.startsWith(stored)).toBe(true);
      expect(signaturesIn(body).slice(0, signaturesIn(before).length)).toEqual(
        signaturesIn(before),
      );
    }
    expect(signaturesIn(bodies[5]).length).toBeGreaterThan(signaturesIn(bodies[1]).length);
    const reads = turns.flatMap(({ calls }) =>
      calls.map(({ usage }) => usage?.cacheReadTokens ?? 0),
    );
    expect(reads.slice(1).every((tokens) => tokens > 4096)).toBe(true);
  });

  test("that goes on with another one sends it none, and the first one gets its own back", async () => {
    const { place, google, bodies } = await setUp(
      { google: [look, said, look, said, look, said] },
      `models: { default: ${flash} }`,
    );
    const session = await (await start(place)).engine.open({ id: "s" });
    const ends = [
      (await session.run("Where is it?").result).end,
      (await session.run("And the rest?", { model: older }).result).end,
      (await session.run("And now?", { model: flash }).result).end,
    ];
    expect(ends).toEqual(["done", "done", "done"]);
    expect(google.simulator.calls().map(({ status }) => status)).toEqual(Array(6).fill(200));
    const own = signaturesIn(bodies[1]);
    expect(own.length).toBeGreaterThan(0);
    expect(signaturesIn(bodies[2]).filter((each) => own.includes(each))).toEqual([]);
    expect(signaturesIn(bodies[4]).slice(0, own.length)).toEqual(own);
  });
});

test("a turn that another vendor's model began in the middle of its tools is finished", async () => {
  const down: readonly FaultSpec[] = [{ kind: "overloaded", count: 2 }];
  const { place, claude, bodies } = await setUp(
    { google: [said], claude: [look, said] },
    `models: { default: ${sonnet}, aliases: { other: ${flash} } }\nrouting: { fallback: [other] }`,
  );
  const session = await (await start(place)).engine.open({ id: "s" });
  const turn = session.run("Where is it?");
  for await (const part of turn) if (part.type === "tool") claude.simulator.fault(...down);
  const { end, calls } = await turn.result;
  expect([end, calls.map(({ model, status }) => [model, status])]).toEqual([
    "done",
    [
      [sonnet, "complete"],
      [sonnet, "failed"],
      [flash, "complete"],
    ],
  ]);
  expect(signaturesIn(bodies[0])).toEqual(["skip_thought_signature_validator"]);
  expect(bodies[0]).not.toContain("The file says it.");
});
