// What Gemini keeps by itself: any prefix from the model's minimum on, for a time that our options name.
import { expect, test } from "vitest";
import { createSimulator } from "../simulator.ts";
import {
  createKit,
  flash,
  hourMs,
  minuteMs,
  model,
  openingTokens,
  readTool,
  user,
  words,
  type Body,
  type Kit,
} from "./test-kit.ts";

const manual = words("Manual:", 5_000);
const head = { systemInstruction: { parts: [{ text: manual }] } };

interface Tokens {
  readonly prompt: number;
  readonly read: number | undefined;
}

function ask(kit: Kit, body: Body, name = flash): Tokens {
  const answered = kit.generate(body, name);
  if (answered.status !== 200) throw new Error(answered.text);
  const { promptTokenCount, cachedContentTokenCount } = answered.json.usageMetadata;
  return { prompt: promptTokenCount, read: cachedContentTokenCount };
}

function endingWith(end: string): Body {
  return { parts: [{ text: `${manual}${end}` }] };
}

/** What the second of two equal requests reads. */
async function askTwice(billing: object, waitMs: number): Promise<number | undefined> {
  const simulator = createSimulator({ clock: "virtual", billing });
  const send = async (): Promise<Body> => {
    const answered = await simulator.fetch(
      `http://localhost/v1beta/models/${flash}:generateContent?key=x`,
      { method: "POST", body: JSON.stringify({ ...head, contents: [user("One?")] }) },
    );
    return answered.json();
  };
  await send();
  await simulator.clock.advance(waitMs);
  return (await send()).usageMetadata.cachedContentTokenCount;
}

test("a conversation that goes on reads all that it sent, and the count is absent until then", () => {
  const kit = createKit();
  const first = ask(kit, { ...head, contents: [user("One?")] });
  const contents = [user("One?"), model("One."), user("Two?")];
  const second = ask(kit, { ...head, contents });
  expect(first.read).toBeUndefined();
  expect(second.read).toBe(first.prompt - openingTokens);
  expect(kit.records[1]?.bill).toMatchObject({
    readTokens: first.prompt - openingTokens,
    writeTokens: {},
    reason: { kind: "hit", writtenBy: "1", lifetime: null },
  });
});

test("a read costs a tenth, and keeping costs nothing", () => {
  const kit = createKit();
  const { prompt } = ask(kit, { ...head, contents: [user("One?")] });
  const second = ask(kit, { ...head, contents: [user("One?")] });
  expect([prompt, second.prompt, second.read]).toEqual([6169, 6169, 6166]);
  // 6 tokens of output at $3.75 per million.
  expect(kit.records.map(({ costUsd }) => costUsd)).toEqual(["$0.00464925", "$0.0004872"]);
});

test("usage says by medium what was read", () => {
  const kit = createKit();
  ask(kit, { ...head, contents: [user("One?")] });
  const { json } = kit.generate({ ...head, contents: [user("One?")] });
  expect(json.usageMetadata.cacheTokensDetails).toEqual([{ modality: "TEXT", tokenCount: 6166 }]);
});

test("other system text behind a shared beginning reads the beginning", () => {
  const kit = createKit();
  ask(kit, { systemInstruction: endingWith(" It is Monday."), contents: [user("One?")] });
  const { read } = ask(kit, {
    systemInstruction: endingWith(" It is Friday."),
    contents: [user("One?")],
  });
  expect(read).toBeGreaterThan(5_900);
  expect(read).toBeLessThan(6_160);
});

test("another tool before everything loses everything", () => {
  const kit = createKit();
  ask(kit, { ...head, contents: [user("One?")] });
  expect(ask(kit, { ...head, tools: [readTool], contents: [user("One?")] }).read).toBeUndefined();
});

test("a prefix below the model's minimum is not kept", () => {
  const kit = createKit();
  const contents = [user(words("short", 2_500))];
  for (const [name, read] of [
    [flash, undefined],
    ["gemini-2.5-flash", 3081],
    // Its minimum is not published: the option says 4,096.
    ["gemini-4-argon", undefined],
  ] as const) {
    ask(kit, { contents }, name);
    expect([name, ask(kit, { contents }, name).read]).toEqual([name, read]);
  }
});

test("Vertex asks for more than the Gemini API", () => {
  const kit = createKit();
  const path = `/v1/projects/p/locations/l/publishers/google/models/${flash}:generateContent`;
  const body = { contents: [user(words("long", 4_000))] };
  kit.send("POST", path, body);
  const { usageMetadata } = kit.send("POST", path, body).json;
  expect(usageMetadata.promptTokenCount).toBe(4930);
  expect(usageMetadata).not.toHaveProperty("cachedContentTokenCount");
});

test("it is kept for five minutes after it was last sent", () => {
  const kit = createKit();
  const body = { ...head, contents: [user("One?")] };
  ask(kit, body);
  kit.nowMs += 5 * minuteMs;
  expect(ask(kit, body).read).toBe(6166);
  kit.nowMs += 5 * minuteMs + 1;
  expect(ask(kit, body).read).toBeUndefined();
  expect(kit.records[2]?.bill.reason).toMatchObject({ kind: "expired", agoMs: 1 });
});

test("each key and each model has its own", () => {
  const kit = createKit();
  const body = { ...head, contents: [user("One?")] };
  ask(kit, body);
  expect(ask(kit, body, "gemini-3.7-flash").read).toBeUndefined();
  kit.workspace = "another";
  expect(ask(kit, body).read).toBeUndefined();
});

test("an option says that nothing is kept, another how long", async () => {
  expect(await askTwice({}, 0)).toBe(6166);
  expect(await askTwice({ unpublishedBoundary: "nothing" }, 0)).toBeUndefined();
  expect(await askTwice({}, hourMs)).toBeUndefined();
  expect(await askTwice({ unpublishedSeconds: 3_600 }, hourMs)).toBe(6166);
});
