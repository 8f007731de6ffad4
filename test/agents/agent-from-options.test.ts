// Goal: `openEngine` gives an agent what strata.yaml can. Method: the simulator answers, and the request that goes out is read.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openEngine, type MemoryProvider, type OpenEngineOptions } from "../../src/index.ts";
import type { AgentEnvironment } from "../../src/core/layers/environment.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-options-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const usual = { model: "claude-sonnet-4-6", simulate: true, counter: cheapCounter, env: {} };

interface Body {
  readonly system?: readonly { readonly text: string }[];
  readonly messages: unknown;
}

async function ask(options: Partial<OpenEngineOptions>): Promise<Body> {
  await using engine = await openEngine({ ...usual, ...options });
  const session = await engine.session("one");
  const call = await session.prepare("Hello.");
  return JSON.parse(new TextDecoder().decode(call.toBytes())) as Body;
}

function textOf({ system = [] }: Body): string {
  return system.map(({ text }) => text).join("\n\n");
}

const mail: AgentEnvironment = {
  capabilities: [{ category: "Mail", name: "mail-read", status: "ready" }],
};

test("texts of an agent are options, in the order of the prompt", async () => {
  const body = await ask({
    system: "You are a reviewer.",
    role: "manager",
    roleRules: false,
    persona: { soul: "Calm." },
    userIdentity: "Kim",
    permissions: ["orders.read"],
    environment: mail,
    guidance: { anthropic: "Quote sources." },
    peers: { bob: "reviews code" },
    bindingPrompt: "People write from the shop.",
    language: "Spanish",
    moment: { sender: "kim", channel: "desk" },
  });
  expect(textOf(body)).toBe(
    [
      "You are a reviewer.",
      "## User identity\n\nKim",
      "Calm.",
      "## Permissions\n\n- orders.read",
      "## Environment\n\nCapabilities (✅ ready, 🔧 needs setup, ⛔ unavailable):\nMail: mail-read ✅",
      "Quote sources.",
      "## Peers\n\n- bob: reviews code",
      "People write from the shop.",
      "Answer in this language: Spanish.",
    ].join("\n\n"),
  );
  expect(JSON.stringify(body.messages)).toContain("Channel: desk\\nSender: kim");
});

test("a folder gives its documents and skills; what is about a folder is refused without one", async () => {
  for (const [path, text] of Object.entries({
    "AGENTS.md": "Run the tests.\n",
    "docs/api.md": "GET /orders\n",
    ".strata/skills/release/SKILL.md":
      "---\nname: release\ndescription: Makes one.\n---\n\nTag it.\n",
    ".strata/skills/deploy/SKILL.md":
      "---\nname: deploy\ndescription: Makes one.\n---\n\nShip it.\n",
  })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const text = textOf(
    await ask({ workspace: folder, documents: ["docs/api.md"], skills: ["release"] }),
  );
  expect(text).toMatch(/Run the tests\.[\s\S]*- release: Makes one\.[\s\S]*GET \/orders/);
  expect(text).not.toContain("deploy");
  await expect(ask({ documents: ["docs/api.md"] })).rejects.toMatchObject({
    code: "input-invalid",
    message: "the option documents is about a folder, and there is none",
  });
});

test("a changed environment is sent with the next call, and the system text stays as it was", async () => {
  let environment = mail;
  await using engine = await openEngine({ ...usual, environment: () => environment });
  const session = await engine.session("one");
  const send = async (): Promise<Body> => {
    const call = await session.prepare("Hello.");
    const body = JSON.parse(new TextDecoder().decode(call.toBytes())) as Body;
    await session.abandon();
    return body;
  };
  const before = await send();
  environment = { capabilities: [{ category: "Mail", name: "mail-read", status: "unavailable" }] };
  const after = await send();
  expect(textOf(after)).toBe(textOf(before));
  expect(JSON.stringify(before.messages)).not.toContain("environment has changed");
  expect(JSON.stringify(after.messages)).toContain("The environment has changed since the start");
  expect(JSON.stringify(after.messages)).toContain("Mail: mail-read ⛔");
});

test("a memory provider's text stands in the session's part; one that fails is reported and left out", async () => {
  const asked: unknown[] = [];
  const provider: MemoryProvider = {
    name: "notes",
    recall: (of) => {
      asked.push(of);
      return Promise.resolve("Kim likes tables.");
    },
  };
  const body = await ask({ system: "You are a reviewer.", memoryProvider: provider });
  expect(body.system?.map(({ text }) => text)).toEqual([
    "You are a reviewer.",
    "## External memory\n\nKim likes tables.",
  ]);
  expect(asked).toEqual([{ sessionId: "one", agent: "agent" }]);
  const notices: string[] = [];
  const failing = { name: "notes", recall: () => Promise.reject(new Error("no route")) };
  const without = await ask({
    system: "You are a reviewer.",
    memoryProvider: failing,
    onNotice: (notice) => void notices.push(notice),
  });
  expect(textOf(without)).toBe("You are a reviewer.");
  expect(notices.join("\n")).toContain(
    "the memory provider notes failed: no route; the session goes on without it",
  );
});

async function personaOf(options: Partial<OpenEngineOptions>): Promise<string | null> {
  await using engine = await openEngine({ ...usual, ...options });
  await (await engine.session("one")).run("Hello.").result;
  return (await engine.ledger.findSession("one"))?.personaId ?? null;
}

test("the persona that a session is recorded with is named by its file, else by its identity", async () => {
  const file = join(folder, "gruff.md");
  writeFileSync(file, "Say little.");
  expect(await personaOf({ personaFile: file })).toBe("gruff");
  expect(await personaOf({ persona: { identity: "Name: Ada" } })).toBe("Ada");
  expect(await personaOf({})).toBe(null);
});

test("X-22: how many capabilities the prompt was made of, and when, is recorded with the session", async () => {
  const before = new Date().toISOString();
  await using engine = await openEngine({ ...usual, environment: mail });
  await (await engine.session("one")).run("Hello.").result;
  const record = await engine.ledger.findSession("one");
  const { madeOf } = JSON.parse(record?.contextJson ?? "") as { madeOf: readonly Noted[] };
  const note = madeOf.find((each) => each.name === "environment" && each.note !== undefined)?.note;
  expect(note).toEqual({ capabilityCount: 1, snapshotAt: expect.any(String) });
  expect(note?.snapshotAt).toSatisfy((time) => time >= before);
});

interface Noted {
  readonly name: string;
  readonly note?: { readonly snapshotAt: string };
}

interface MarkedText {
  readonly text: string;
  readonly cache_control?: object;
}

test("H-01: a block is kept as long as it asks, before what asks for less; a provider that offers less keeps it so long", async () => {
  const rules = "Every answer names the file and the line it speaks of. ".repeat(200);
  const blocks = [
    { label: "week", text: `Of this week. ${rules}` },
    { label: "day", text: `Of today. ${rules}`, lifetime: "5m" as const },
    { label: "rules", text: rules, lifetime: "1h" as const },
    { label: "nothing", text: null, lifetime: "1h" as const },
  ];
  const body = await ask({ blocks, system: "You are a reviewer." });
  const system = (body.system ?? []) as readonly MarkedText[];
  expect(system.map(({ text, cache_control: marker }) => [text.slice(0, 9), marker])).toEqual([
    [rules.slice(0, 9), { type: "ephemeral", ttl: "1h" }],
    ["Of today.", { type: "ephemeral" }],
    ["You are a", expect.anything()],
  ]);
  const worker = await ask({ blocks, pace: "worker" });
  expect(JSON.stringify(worker.system)).not.toContain('"ttl":"1h"');
  const bare = await ask({ blocks, policy: "none" });
  expect(JSON.stringify(bare)).not.toContain("cache_control");
});

test("H-01: a block with another lifetime than there is, or without a label, is refused", async () => {
  const odd = { label: "x", text: "y", lifetime: "2h" } as unknown as {
    label: string;
    text: string;
  };
  await expect(openEngine({ ...usual, blocks: [odd] })).rejects.toThrow(
    "the option blocks is not what it must be",
  );
});

test("H-01: what blocks with lifetimes of their own should cost is what they cost, also in a session that is resumed", async () => {
  const rules = "Every answer names the file and the line it speaks of. ".repeat(200);
  const blocks = [{ label: "rules", text: rules, lifetime: "1h" as const }];
  await using engine = await openEngine({ ...usual, blocks, policy: "tail-5m" });
  for (const text of ["Hello.", "And now?"]) {
    await using session = await engine.session("one");
    const [call] = (await session.run(text).result).calls;
    expect(call?.plan.markers.map(({ lifetime }) => lifetime)).toEqual(["1h", "5m"]);
    expect(call?.verdict?.kind).toBe("as expected");
  }
});
