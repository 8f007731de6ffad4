// Goal: a compaction by hand is seen before it is made, and made as it was shown. Method: sessions made by the engine on the
// simulator over loopback, compacted by the command in a ledger file, and the ledger read back.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { formatUsd } from "../../core/models/pico-usd.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { makeSession, openSimulated, type SimulatedProvider } from "./compact-test-kit.ts";
import { strata, words, type Ran } from "../test-kit.ts";

let folder = "";
let file = "";
let provider: SimulatedProvider;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-compact-"));
  file = join(folder, "ledger.db");
  provider = await openSimulated();
});
afterEach(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const claude = { id: "build", model: "claude-sonnet-4-6", turns: 8 };

function withKey(...typed: readonly string[]): Promise<Ran> {
  return strata({ STRATA_STORE: file, ...provider.env }, ...typed);
}

function withoutKey(...typed: readonly string[]): Promise<Ran> {
  return strata({ STRATA_STORE: file }, ...typed);
}

interface Kept {
  readonly session: SessionRecord | null;
  readonly compactions: readonly CompactionRecord[];
  /** The first words of each message that the next call sends. */
  readonly says: readonly string[];
  readonly events: readonly string[];
}

async function readKept(sessionId = "build"): Promise<Kept> {
  const ledger = await openLedger(file);
  const says: string[] = [];
  for await (const { message } of ledger.readThread({ sessionId })) {
    const [block] = message.content;
    says.push(block?.type === "text" ? (block.text.split("\n")[0] ?? "") : "");
  }
  const events: string[] = [];
  for await (const { type } of ledger.readEvents({ sessionId })) events.push(type);
  const session = await ledger.findSession(sessionId);
  const compactions = await ledger.readCompactions(sessionId);
  await ledger.close();
  return { session, compactions, says, events };
}

describe("strata compact shows the plan", () => {
  beforeEach(() => makeSession(file, provider, claude));

  test("with what it compacts, what stays, tokens, dollars and break-even, and changes nothing", async () => {
    const before = await readKept();
    const callsBefore = provider.simulator.calls().length;
    const { out, status } = await withKey("compact", "build", "--dry-run");
    expect(status).toBe(0);
    const usd = String.raw`\$\d\.\d{4}`;
    const patterns = [
      "session     build, claude-sonnet-4-6",
      "compacts    5 turns: 10 messages, 29\\.\\dk tokens",
      "into        a summary by claude-sonnet-4-6 and an index of exact names, about 3\\.5k tokens",
      "keeps       3 turns from build-6 on: 6 messages, 17\\.\\dk tokens; tools and system text, 1\\.8k",
      "prompt      41\\.\\dk → about 23\\.\\dk tokens per call",
      `price       ${usd} → ${usd} per call from the cache, ${usd} → ${usd} without it`,
      `costs now   ${usd}: ${usd} for the summary, ${usd} because the next call is not in the cache`,
      `break-even  after \\d+ calls \\(about \\d+ turns\\), each ${usd} cheaper; 8 calls more would save \\d+ % of the cost`,
    ];
    expect(out).toMatch(new RegExp(`^${patterns.join("\n")}\n$`));
    expect(await readKept()).toEqual(before);
    expect(provider.simulator.calls()).toHaveLength(callsBefore);
  });

  test("for machines as one value, with money exact as text", async () => {
    const { out } = await withKey("compact", "build", "--dry-run", "--json");
    expect(JSON.parse(out)).toMatchObject({
      plan: {
        kind: "compaction",
        sessionId: "build",
        writer: "claude-sonnet-4-6",
        turnsCompacted: 5,
        turnsKept: 3,
        firstKeptTurnId: "build-6",
        isTurnCut: false,
        breakEvenCalls: expect.any(Number),
        money: { summaryPicoUsd: expect.stringMatching(/^\d+$/) },
      },
      compaction: null,
    });
  });

  test("at no price for a summary where no model is wanted", async () => {
    const { out } = await withoutKey("compact", "build", "--no-model", "--dry-run");
    expect(out).toContain("into        an outline made without a model and an index");
    expect(out).toMatch(/costs now {3}(\S+): \1 because the next call is not in the cache\n/);
    expect(out).not.toContain("No model can be asked");
  });

  test("with another model's price, and needs no key for that", async () => {
    const typed = ["compact", "build", "--dry-run", "--summarizer", "gpt-5.4-mini"] as const;
    const { out, status } = await withoutKey(...typed);
    expect(out).toContain("into        a summary by gpt-5.4-mini and an index");
    expect(out).toContain("gpt-5.4-mini cannot be called now: OPENAI_API_KEY is not set.");
    expect(status).toBe(0);
  });

  test("and asks first: without a terminal it refuses and changes nothing", async () => {
    const { out, error, status } = await withKey("compact", "build");
    expect(out).toContain("compacts    5 turns");
    expect(error).toBe(
      "strata: Compact 5 turns of build with a summary by claude-sonnet-4-6? There is no terminal to ask on\n  add --yes; nothing was changed\n",
    );
    expect(status).toBe(2);
    expect((await readKept()).compactions).toEqual([]);
  });
});

describe("strata compact compacts", () => {
  test("with a summary, at the provider's price, and says how to get back what it hides", async () => {
    await makeSession(file, provider, claude);
    const { out, error, status } = await withKey("compact", "build", "--yes");
    expect({ error, status }).toEqual({ error: "", status: 0 });
    const { session, compactions, says, events } = await readKept();
    const [compaction] = compactions;
    expect(compactions).toMatchObject([
      { kind: "summary", trigger: "manual", turnsSummarized: 5, model: "claude-sonnet-4-6" },
    ]);
    expect(session?.headTurnId).toBe(compaction?.turnId);
    expect(formatUsd(compaction?.costPicoUsd ?? 0n)).toBe(
      provider.simulator.calls().at(-1)?.billed?.costUsd,
    );
    expect(says.slice(1)).toEqual([
      "What depends on module 6?",
      "Read; nothing depends on it.",
      "What depends on module 7?",
      "Read; nothing depends on it.",
      "What depends on module 8?",
      "Read; nothing depends on it.",
    ]);
    expect(events.slice(-3)).toEqual([
      "session.resumed",
      "compaction.started",
      "compaction.completed",
    ]);
    expect(out).toContain(`compaction  ${compaction?.turnId}\n`);
    expect(out).toContain("kind        summary by claude-sonnet-4-6 of anthropic\n");
    expect(out).toContain("turns       5 of 8 compacted, through build-5; kept from build-6 on\n");
    expect(out).toMatch(/index {7}\d+ exact names in 2\.\dk tokens; \d+ names left out\n/);
    expect(out).toContain(`strata sessions show build --compaction ${compaction?.turnId}`);
    expect(out).toContain("strata sessions fork build NEW --turn build-8");
    expect((await withoutKey("ledger", "check")).status).toBe(0);
  });

  test("reads the conversation from the cache that the session's own calls left", async () => {
    await makeSession(file, provider, claude);
    const left = provider.simulator.calls().at(-1)?.billed?.bill;
    await withKey("compact", "build", "--yes");
    expect(provider.simulator.calls().at(-1)?.billed?.bill.readTokens).toBe(
      (left?.readTokens ?? 0) + (left?.writeTokens["5m"] ?? 0),
    );
  });

  test("with what the summary should dwell on", async () => {
    await makeSession(file, provider, claude);
    await withKey("compact", "build", "--yes", "--focus", "who calls readPart7");
    expect(provider.asked).toHaveLength(1);
    expect(provider.asked[0]).toContain("who calls readPart7");
  });

  test("with a summary by another model", async () => {
    await makeSession(file, provider, claude);
    const { out } = await withKey("compact", "build", "--yes", "--summarizer", "gpt-5.4-mini");
    expect(out).toContain("into        a summary by gpt-5.4-mini and an index");
    expect(provider.simulator.calls().at(-1)).toMatchObject({
      path: "/v1/responses",
      billed: { model: "gpt-5.4-mini" },
    });
    expect((await readKept()).compactions).toMatchObject([{ kind: "summary", provider: "openai" }]);
  });

  test("without a model, and without a key", async () => {
    await makeSession(file, provider, claude);
    const callsBefore = provider.simulator.calls().length;
    const { out, status } = await withoutKey("compact", "build", "--no-model", "--yes", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      plan: { writer: null },
      compaction: {
        kind: "sliding_window",
        costPicoUsd: "0",
        index: { entries: expect.any(Array) },
        metadata: { by: "nobody" },
      },
    });
    expect((await readKept()).compactions).toHaveLength(1);
    expect(provider.simulator.calls()).toHaveLength(callsBefore);
  });

  test.each([
    ["responses", undefined, "/v1/responses"],
    ["chat completions", openaiChat, "/v1/chat/completions"],
  ])("an OpenAI session by %s in the protocol it was made with", async (_name, protocol, path) => {
    await makeSession(file, provider, {
      id: "build",
      model: "gpt-5.4",
      turns: 8,
      ...(protocol === undefined ? {} : { protocol }),
    });
    const { error, status } = await withKey("compact", "build", "--yes");
    expect({ error, status }).toEqual({ error: "", status: 0 });
    expect(provider.simulator.calls().at(-1)?.path).toBe(path);
    expect((await readKept()).compactions).toMatchObject([{ kind: "summary", model: "gpt-5.4" }]);
  });

  test("so that the next turn goes on, and a second compaction has nothing left to do", async () => {
    await makeSession(file, provider, claude);
    await withKey("compact", "build", "--yes");
    const { out, status } = await withKey("compact", "build", "--yes");
    expect({ out, status }).toEqual({
      out: "Nothing to compact in build: it has 3 turns with 20.7k tokens, and no part before the latest 20.0k can be cut off.\n",
      status: 0,
    });
  });
});

describe("strata compact follows strata.yaml", () => {
  function configured(yaml: string, env: Readonly<Record<string, string>> = {}): void {
    writeFileSync(join(folder, "strata.yaml"), yaml);
    config = { STRATA_STORE: file, STRATA_CONFIG: join(folder, "strata.yaml"), ...env };
  }
  let config: Readonly<Record<string, string>> = {};

  test("and asks the provider that is configured there, by its name for the model", async () => {
    await makeSession(file, provider, claude);
    configured(
      `providers:
  anthropic: { kind: anthropic, base_url: "${provider.env["ANTHROPIC_BASE_URL"]}", api_key_env: GARAGE_KEY, model_names: { claude-sonnet-4-6: claude-sonnet-4-5 } }
`,
      { GARAGE_KEY: plantedKey },
    );
    const { error, status } = await strata(config, "compact", "build", "--yes");
    expect({ error, status }).toEqual({ error: "", status: 0 });
    expect(provider.simulator.calls().at(-1)?.billed?.model).toContain("claude-sonnet-4-5");
    expect((await readKept()).compactions).toMatchObject([{ kind: "summary" }]);
  });

  test("and reads the file that --config names: its ledger, its agent's reserves, its longest tail", async () => {
    await makeSession(file, provider, claude);
    configured(`
ledger: { store: "${file}" }
llm: { context_optimization: { compaction: { tail_keep_tokens: 900000 } } }
agents: { agent: { reserves: { response_tokens: 1000, tool_tokens: 0 } } }
`);
    const given = ["--config", join(folder, "strata.yaml")] as const;
    const { out, error, status } = await strata(
      provider.env,
      "compact",
      "build",
      "--dry-run",
      ...given,
    );
    expect({ error, status }).toEqual({ error: "", status: 0 });
    expect(out).toContain("Nothing to compact in build: it has 8 turns");
    expect(out).toContain("tail_keep_tokens is 900000, but at most");
  });

  test("and sends no summary that might pass a spending cap there", async () => {
    await makeSession(file, provider, claude);
    const callsBefore = provider.simulator.calls().length;
    configured("spending: { session_usd: 0.000001 }\n");
    const env = { ...provider.env, ...config };
    const { error, status } = await strata(env, "compact", "build", "--yes");
    expect(status).not.toBe(0);
    expect(error).toContain("spending");
    expect(provider.simulator.calls()).toHaveLength(callsBefore);
    expect((await readKept()).compactions).toEqual([]);
  });

  test("and lets the configured model write the summary, and keeps as many tokens as it says", async () => {
    await makeSession(file, provider, claude);
    configured(
      `llm: { context_optimization: { compaction: { summarizer_model: small, tail_keep_tokens: 30000 } } }
models: { aliases: { small: gpt-5.4-mini } }
`,
      provider.env,
    );
    const { out, status } = await strata(config, "compact", "build", "--dry-run");
    expect(status).toBe(0);
    expect(out).toContain("into        a summary by gpt-5.4-mini and an index");
    expect(out).toContain("keeps       5 turns from build-4 on");
  });
});

describe("strata compact leaves everything as it was", () => {
  test("where no key is set: it says so, offers one without a model, and never makes one unasked", async () => {
    await makeSession(file, provider, claude);
    const dry = await withoutKey("compact", "build", "--dry-run");
    expect(dry.out).toContain("No model can write a summary: ANTHROPIC_API_KEY is not set.");
    expect(dry.status).toBe(0);
    const { error, status } = await withoutKey("compact", "build", "--yes");
    expect(error).toBe(
      "strata: no model can write a summary: ANTHROPIC_API_KEY is not set\n  compact without a model: strata compact build --no-model --yes; nothing was changed\n",
    );
    expect(status).toBe(8);
    expect((await withoutKey("compact", "build")).status).toBe(8);
    expect((await readKept()).compactions).toEqual([]);
  });

  test("where there is too little to compact, with the numbers", async () => {
    await makeSession(file, provider, { ...claude, turns: 2 });
    const { out, status } = await withoutKey("compact", "build");
    expect({ out, status }).toEqual({
      out: "Nothing to compact in build: it has 2 turns with 12.0k tokens, and the latest 20.0k are always kept.\n",
      status: 0,
    });
  });

  test("where no answer is a summary, with what was wrong and what it cost", async () => {
    await makeSession(file, provider, claude);
    const before = await readKept();
    await provider.close();
    provider = await openSimulated("No.");
    const { error, status } = await withKey("compact", "build", "--yes");
    expect(error).toMatch(
      /^strata: session build was not compacted: attempts 1, 2, 3: .*; the attempt cost \$0\.\d{4}\n {2}its history is as it was;/s,
    );
    expect(error).toContain("strata compact build --no-model");
    expect(status).toBe(8);
    const after = await readKept();
    expect(after.says).toEqual(before.says);
    expect(after.compactions).toEqual([]);
    expect(after.events.at(-1)).toBe("compaction.failed");
  });

  test("where another process compacts it", async () => {
    await makeSession(file, provider, claude);
    const ledger = await openLedger(file);
    const lock = await ledger.lockCompaction("build");
    const { error, status } = await withKey("compact", "build", "--yes");
    await lock?.release();
    await ledger.close();
    expect(error).toContain(
      "session build was not compacted: another process compacts this session",
    );
    expect(status).toBe(9);
    expect(provider.asked).toEqual([]);
  });

  test("where a turn runs, or was left open", async () => {
    await makeSession(file, provider, claude);
    const ledger = await openLedger(file);
    const turn = await ledger.openTurn({
      id: "late",
      sessionId: "build",
      parentTurnId: "build-8",
      model: claude.model,
      provider: "anthropic",
      role: "unified",
      startMs: Date.now(),
      messages: [words("user", "And now?")],
    });
    const running = await withKey("compact", "build", "--yes");
    await turn.release();
    await ledger.close();
    expect(running.error).toMatch(
      /turn late of session build is run by \S+\n {2}wait until it ends/,
    );
    expect(running.status).toBe(9);
    const open = await withKey("compact", "build", "--yes");
    expect(open.error).toContain(
      "turn late of session build was left open, and no process runs it",
    );
    expect(open.error).toContain("strata sessions abandon build");
    expect(open.status).toBe(9);
  });

  test("where the provider's address is not valid", async () => {
    await makeSession(file, provider, { ...claude, turns: 1 });
    const env = {
      STRATA_STORE: file,
      ANTHROPIC_API_KEY: plantedKey,
      ANTHROPIC_BASE_URL: "nowhere",
    };
    const { error, status } = await strata(env, "compact", "build");
    expect(error).toContain(
      "ANTHROPIC_BASE_URL: providers.anthropic.base_url must be an address of http",
    );
    expect(status).toBe(5);
  });

  test("where it is archived, or not there", async () => {
    await makeSession(file, provider, { ...claude, turns: 1 });
    await withoutKey("sessions", "archive", "build");
    const archived = await withKey("compact", "build", "--yes");
    expect(archived.error).toContain("strata sessions activate build");
    expect(archived.status).toBe(9);
    const missing = await withKey("compact", "biuld");
    expect(missing.error).toContain("did you mean build?");
    expect(missing.status).toBe(7);
  });

  test.each([
    [["--no-model", "--focus", "x"], 2, "--focus needs a summary"],
    [["--no-model", "--summarizer", "x"], 2, "--summarizer needs a summary"],
    [["--summarizer", "gpt-5.44"], 3, 'model "gpt-5.44" is unknown'],
    [
      ["--summarizer", "deepseek-chat"],
      8,
      "deepseek-chat cannot be asked for a summary: DEEPSEEK_API_KEY is not set",
    ],
    [["--summarizer", "gpt-5.4"], 8, "gpt-5.4 cannot be asked for a summary: OPENAI_API_KEY"],
  ])("with %j", async (options, status, text) => {
    await makeSession(file, provider, { ...claude, turns: 1 });
    const ran = await withoutKey("compact", "build", ...options);
    expect(ran.error).toContain(text);
    expect(ran.status).toBe(status);
  });
});
