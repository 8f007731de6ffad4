import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { itemsOf } from "../../core/growing/growing-list.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { bodyText } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import type { Reply } from "../../core/wire/reply.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { runTurn, type Deps, type TurnResult, type TurnToRun } from "../../engine.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";

const noon = Date.parse("2026-11-15T12:00:00Z");

function open(model = "claude-sonnet-4-6"): Session {
  return openSession({
    model: resolveModel(model).facts,
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(500) },
    counter: cheapCounter,
    options: { outputTokensMax: 100, stream: false },
  });
}

function reply(message: Message, more: Partial<Reply> = {}): Reply {
  const usage = {
    uncachedTokens: 40,
    cacheReadTokens: 0,
    cacheWriteTokens: { "5m": 2000 },
    outputTokens: 10,
    reasoningTokens: 0,
  };
  return {
    kind: "reply",
    id: "msg_1",
    model: "claude-sonnet-4-6",
    message,
    stopReason: "end_turn",
    usage: { usage, isReported: true, reportsCache: true, warnings: [] },
    status: "complete",
    transformations: [],
    ...more,
  };
}

function said(role: Message["role"], text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

const use: ToolUseBlock = {
  type: "tool_use",
  id: "t1",
  name: "Read",
  inputJson: '{"path":"a.ts"}',
};
const asks = reply({ role: "assistant", content: [use] }, { stopReason: "tool_use" });
const answers = reply(said("assistant", "Done."));
const found: Message = {
  role: "tool",
  content: [
    {
      type: "tool_result",
      toolUseId: "t1",
      content: [{ type: "text", text: "found" }],
      isError: false,
    },
  ],
};

interface World extends Deps {
  readonly bodies: string[];
  readonly ran: ToolUseBlock[];
}

let ledger: Ledger;

beforeEach(async () => {
  ledger = await openLedger(":memory:");
});

afterEach(() => ledger.close());

/** A provider that answers with these in turn, and a clock that goes on by a second with every look. */
function worldOf(...outcomes: readonly (Reply | ProviderFailure)[]): World {
  const bodies: string[] = [];
  const ran: ToolUseBlock[] = [];
  let ms = noon;
  return {
    bodies,
    ran,
    ledger,
    now: () => (ms += 1000),
    runTools: (uses) => {
      ran.push(...uses);
      return Promise.resolve([found]);
    },
    provider: {
      send: ({ request }) => {
        const outcome = outcomes[bodies.length % outcomes.length] ?? answers;
        bodies.push(bodyText(request.pieces));
        return Promise.resolve({
          outcome,
          attempts: [],
          startMs: ms,
          endMs: ms,
          firstByteMs: ms,
          status: 200,
          requestId: null,
          headers: {},
        });
      },
    },
  };
}

const turn: TurnToRun = { id: "turn-1", event: { content: "Look.", source: "human" } };

function turnOf(id: string): TurnToRun {
  return { ...turn, id };
}

function messagesOf({ session }: Pick<TurnResult, "session">): readonly Message[] {
  return [...itemsOf(session.thread.messages)];
}

describe("a turn that ends well", () => {
  test("appends what was asked and what was answered, and records the call", async () => {
    const world = worldOf(answers);
    const run = await runTurn(open(), turn, world);
    expect(run.end).toBe("done");
    expect(messagesOf(run)).toEqual([said("user", "Look."), said("assistant", "Done.")]);
    const recorded = await ledger.readCalls("turn-1");
    const calls = run.calls.map(({ sent: _sent, reply: _reply, miss: _miss, ...call }) => call);
    expect(recorded).toEqual(calls);
    expect(run.calls).toMatchObject([
      {
        turnId: "turn-1",
        number: 1,
        startMs: noon + 3000,
        endMs: noon + 4000,
        model: "claude-sonnet-4-6",
        policy: "adaptive",
        sent: [said("user", "Look.")],
        reply: said("assistant", "Done."),
        status: "complete",
        stopReason: "end_turn",
        // 2000 written at $3.75, 40 at $3 and 10 out at $15 a million.
        costPicoUsd: 7_770_000_000n,
        failure: null,
      },
    ]);
  });

  test("of one call is two commits: what it sends, then the reply and its end", async () => {
    const commits: string[] = [];
    const counted: Ledger = {
      ...ledger,
      openTurn: async (opening) => {
        const lease = await ledger.openTurn(opening);
        commits.push(`open ${(await ledger.readMessages("turn-1")).length}`);
        const append: typeof lease.append = async (entry, more) => {
          await lease.append(entry, more);
          const { status, callCount } = (await ledger.findTurn("turn-1")) ?? {};
          commits.push(`append ${status} ${callCount}`);
        };
        return { ...lease, append, close: () => Promise.reject(new Error("a third commit")) };
      },
    };
    const run = await runTurn(open(), turn, { ...worldOf(answers), ledger: counted });
    expect(commits).toEqual(["open 1", "append completed 1"]);
    expect(run.session.headTurnId).toBe("turn-1");
  });

  test("tells the model the time after everything that is stored", async () => {
    const world = worldOf(answers);
    await runTurn(open(), turn, world);
    expect(world.bodies[0]).toContain(
      '{"role":"user","content":[{"type":"text","text":"Look.","cache_control":{"type":"ephemeral"}},' +
        '{"type":"text","text":"Current time: 2026-11-15T12:00:01.000Z\\nTimezone: UTC"}]}',
    );
  });

  test("gives the results of tools back until the model asks for none", async () => {
    const world = worldOf(asks, answers);
    const run = await runTurn(open(), turn, world);
    expect(run.end).toBe("done");
    expect(world.ran).toEqual([use]);
    expect(messagesOf(run)).toEqual([
      said("user", "Look."),
      asks.message,
      found,
      said("assistant", "Done."),
    ]);
    expect(run.calls.map(({ number, sent }) => [number, sent])).toEqual([
      [1, [said("user", "Look.")]],
      [2, [found]],
    ]);
    expect(world.bodies[1]).toContain('"tool_use_id":"t1"');
  });

  test("adds the turn's own volatile text to the event's", async () => {
    const world = worldOf(answers);
    const note = {
      name: "note",
      layer: "memory",
      stability: "turn",
      text: "A note was added.",
    } as const;
    await runTurn(open(), { ...turn, volatile: [note] }, world);
    expect(world.bodies[0]).toContain("Timezone: UTC\\n\\nA note was added.");
  });

  test("leaves the session it began with as it was", async () => {
    const before = open();
    await runTurn(before, turn, worldOf(answers));
    expect([before.thread.messages.length, before.cache.calls]).toEqual([0, 0]);
    const elsewhere = await openLedger(":memory:");
    const again = { ...worldOf(answers), ledger: elsewhere };
    await runTurn(before, turn, again);
    await elsewhere.close();
    expect(again.bodies[0]).not.toContain("Done.");
  });

  test("goes on from the turn before it, and learns the pace", async () => {
    const first = await runTurn(open(), turn, worldOf(answers));
    const second = await runTurn(first.session, { ...turn, id: "turn-2" }, worldOf(answers));
    expect(second.session.cache.calls).toBe(2);
    expect(second.session.pace.gaps).toEqual([1, 0, 0, 0, 0, 0]);
    expect(second.calls[0]?.plan.expected.hitBlock).toBe(1);
  });
});

describe("a turn that fails", () => {
  const overloaded: ProviderFailure = {
    kind: "overloaded",
    detail: "try later",
    retryAfterMs: undefined,
  };

  test("leaves the session as it was, and its record says why", async () => {
    const before = open();
    const run = await runTurn(before, turn, worldOf(overloaded));
    expect(run.end).toBe("failed");
    expect(run.session.thread).toBe(before.thread);
    expect(run.session.cache).toBe(before.cache);
    expect(run.calls).toMatchObject([
      {
        status: "failed",
        reply: null,
        usage: null,
        costPicoUsd: null,
        failure: overloaded,
        verdict: null,
      },
    ]);
  });

  test("in its second call takes back the tool use that nobody answered, and keeps what it learned", async () => {
    const before = open();
    const run = await runTurn(before, turn, worldOf(asks, overloaded));
    expect(run.end).toBe("failed");
    expect(run.session.thread).toBe(before.thread);
    expect(run.session.cache.calls).toBe(1);
    expect(run.calls.map(({ status }) => status)).toEqual(["complete", "failed"]);
  });

  test("does not append a reply that was cut off, and records what it cost", async () => {
    const cut = reply(said("assistant", "Do"), { status: "partial", failure: overloaded });
    const before = open();
    const run = await runTurn(before, turn, worldOf(cut));
    expect(run.end).toBe("failed");
    expect(run.session.thread).toBe(before.thread);
    expect(run.calls).toMatchObject([
      {
        status: "partial",
        reply: said("assistant", "Do"),
        failure: overloaded,
        costPicoUsd: 7_770_000_000n,
      },
    ]);
  });

  test("by asking for tools too often ends, without the last tool use that nobody answered", async () => {
    const world = worldOf(asks);
    const before = open();
    const run = await runTurn(before, { ...turn, callsMax: 3 }, world);
    expect(run.end).toBe("too many calls");
    expect(world.bodies).toHaveLength(3);
    expect(run.calls.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(run.session.thread).toBe(before.thread);
  });

  test("with an id that was used before is refused by the ledger, not by the model", async () => {
    const world = worldOf(answers);
    const { session } = await runTurn(open(), turn, world);
    await expect(runTurn(session, turn, world)).rejects.toThrow(
      "turn turn-1 is already in the ledger",
    );
  });
});

describe("a turn that cannot go on as it should", () => {
  test("is cut off where a tool use cannot be run, and the next turn is not refused for it", async () => {
    const before = open();
    const cut = reply({ role: "assistant", content: [use] }, { stopReason: "max_tokens" });
    const world = worldOf(cut, answers);
    const run = await runTurn(before, turnOf("one"), world);
    expect([run.end, run.session.thread.messages.length]).toEqual(["cut off", 0]);
    const next = await runTurn(run.session, turnOf("two"), world);
    expect(next.end).toBe("done");
    expect(world.bodies.at(-1)).not.toContain("tool_use");
  });

  test("goes on from the provider's own words after a pause", async () => {
    const paused = reply(said("assistant", "Searching."), { stopReason: "pause_turn" });
    const world = worldOf(paused, answers);
    const run = await runTurn(open(), turnOf("one"), world);
    expect(run.end).toBe("done");
    expect(world.bodies).toHaveLength(2);
    expect(world.bodies[1]).toMatch(/"role":"assistant","content":\[[^\]]*\]\}\]/);
  });

  test("tells the model what a tool threw, and which tool gave nothing", async () => {
    const throwing = {
      ...worldOf(asks, answers),
      runTools: () => Promise.reject(new Error("no disk")),
    };
    const silent = { ...worldOf(asks, answers), runTools: () => Promise.resolve([]) };
    for (const [world, text] of [
      [throwing, "The tool failed: no disk"],
      [silent, "The tool gave no result."],
    ] as const) {
      const run = await runTurn(open(), turnOf(text), world);
      expect(run.end).toBe("done");
      expect(world.bodies[1]).toContain(`"text":"${text}"`);
      expect(world.bodies[1]).toContain('"is_error":true');
    }
  });

  test("leaves no system message between two of the user where a reply was empty", async () => {
    const empty = reply({ role: "assistant", content: [] });
    const world = worldOf(empty, answers);
    const first = await runTurn(open("claude-opus-5-5"), turnOf("one"), world);
    expect(first.calls[0]?.notes.map(({ kind }) => kind)).toEqual(["content-left-out"]);
    await runTurn(first.session, turnOf("two"), world);
    expect(world.bodies[1]?.match(/"role":"system"/g)).toHaveLength(1);
  });

  test("keeps what a cut reply taught about the cache, but not the reply", async () => {
    const partial = reply(said("assistant", "Half of"), { status: "partial" });
    const run = await runTurn(open(), turnOf("one"), worldOf(partial));
    expect([run.end, run.session.thread.messages.length]).toEqual(["failed", 0]);
    expect(run.session.cache.entries.length).toBeGreaterThan(0);
  });
});

describe("a session that goes on from another's messages", () => {
  test("leaves thinking out where the model takes only its own, and says so once", () => {
    const thought: Message = {
      role: "assistant",
      content: [
        { type: "thinking", text: "hm", signature: "s" },
        { type: "text", text: "Yes." },
      ],
    };
    const setup = {
      model: resolveModel("claude-opus-5-5").facts,
      protocol: anthropicMessages,
      policy: findPolicy("adaptive"),
      context: { role: "unified" as const, workspaceRules: "Answer briefly." },
      counter: cheapCounter,
      options: { outputTokensMax: 100, stream: false },
      messages: [said("user", "Is it so?"), thought],
    };
    const session = openSession(setup);
    expect([...itemsOf(session.thread.messages)][1]).toEqual(said("assistant", "Yes."));
    expect(session.warnings).toEqual([
      "1 thinking blocks of earlier messages are left out: claude-opus-5-5 takes only its own",
    ]);
    const unbound = openSession({ ...setup, model: resolveModel("claude-sonnet-4-6").facts });
    expect([...itemsOf(unbound.thread.messages)][1]).toBe(thought);
  });
});
