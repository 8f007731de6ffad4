// Messages: what is read back is what was given, to the byte, on every database.
import { expect, test } from "vitest";
import { createRandom, randomMessageText } from "../../../harness/random-message.ts";
import { decodeMessage } from "../../../src/core/message/decode-message.ts";
import { encodeMessage } from "../../../src/core/message/encode-message.ts";
import { isUlid } from "../../../src/core/message/validate-message.ts";
import type { Message } from "../../../src/core/message/message.ts";
import { toMessageText } from "../../../src/core/ledger/message-text.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { ThreadMessage } from "../../../src/core/ledger/turn-record.ts";
import type { OpenLedger } from "../stores.ts";
import {
  all,
  answers,
  assistant,
  call,
  counted,
  newTurn,
  openSession,
  startMs,
  user,
} from "../test-kit.ts";

export function messagesContract(open: OpenLedger): void {
  test("500 random messages come back to the byte, with the hash they were given (C-4)", async () => {
    const { ledger, reopen } = await open();
    const random = createRandom(20_261_116);
    const texts = Array.from({ length: 500 }, () => randomMessageText(random));
    const given = texts.map(decodeMessage);
    await record(ledger, given);
    const read = await all((await reopen()).readThread({ sessionId: "a" }));
    const broken = texts.filter((text, index) => {
      const [kept, message] = [read[index], given[index]];
      return kept === undefined || message === undefined || !isSame(kept, message, text);
    });
    expect(read).toHaveLength(500);
    expect(broken).toEqual([]);
  });

  test("every message has a ULID that grows along the thread, and its time (D-01, D-06)", async () => {
    const { reopen, advance } = await open();
    const ledger = await reopen();
    await openSession(ledger, "a", { messages: [counted(user("earlier"))] });
    const head = (await ledger.findSession("a"))?.headTurnId ?? null;
    advance(60_000);
    const turn = await ledger.openTurn(newTurn("a", "t1", head));
    await turn.append(call("t1", 1));
    await turn.close({ status: "completed", endMs: startMs });
    const read = await all((await reopen()).readThread({ sessionId: "a" }));
    const ids = read.map(({ messageId }) => messageId ?? "");
    expect(ids.filter(isUlid)).toHaveLength(3);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
    expect(read.map(({ createdMs }) => createdMs)).toEqual([
      startMs,
      startMs + 60_000,
      startMs + 60_000,
    ]);
  });

  const odd: Readonly<Record<string, Message>> = {
    "a lone surrogate": user("a\ud800b\udc00"),
    "a NUL character": user("a\u0000b"),
    "every control character": user(
      String.fromCharCode(...Array.from({ length: 32 }, (_, n) => n)),
    ),
    "emoji and scripts": user("😀 👩‍👩‍👧 日本語 עברית \u202e \u2028 \ufeff"),
    "an empty text": user(""),
    "no block at all": { role: "user", content: [] },
    "SQL and escapes": user("'; DROP TABLE turns; -- \\ \\u0000 $1 ? :x %s"),
    "a megabyte": user("0123456789abcde\n".repeat(65_536)),
    "numbers JavaScript changes": {
      role: "assistant",
      content: [
        {
          type: "tool_use",
          id: "u1",
          name: "Run",
          inputJson: '{"b":1.0,"10":1e3,"2":12345678901234567890,"a":-0}',
        },
      ],
    },
    "a tool that no database can name": {
      role: "assistant",
      content: [
        { type: "tool_use", id: "u\u0000\ud800", name: "\udc00Run\u0000", inputJson: "{}" },
      ],
    },
    "exact texts at every level": {
      role: "tool",
      json: '{ "role":"user", "content": [ ] }',
      content: [
        {
          type: "tool_result",
          toolUseId: "u1",
          isError: true,
          json: '{"type":"tool_result" }',
          content: [
            { type: "text", text: "x", json: '{"text":"x","type":"text"}' },
            { type: "opaque", json: '{"type":"new","v":1.0}' },
          ],
        },
      ],
    },
  };
  test.for(Object.entries(odd))("%s comes back as it was", async ([, message]) => {
    const { ledger } = await open();
    await record(ledger, [message]);
    const [kept] = await all(ledger.readThread({ sessionId: "a" }));
    expect(kept?.message).toEqual(message);
    expect(kept?.hash).toBe(toMessageText(message).hash);
  });

  test("a model that names its tools strangely is recorded and answered like any other", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await ledger.openTurn(newTurn("a", "t1", null));
    for (const [index, id] of ["u\u0000", "u\ud800", "u\udc00", "u", "😀".repeat(500)].entries()) {
      const use = { type: "tool_use", id, name: `name of ${id}`, inputJson: "{}" } as const;
      const sent = index === 0 ? [user("question of t1")] : [];
      await turn.append(
        call("t1", 2 * index + 1, { sent, reply: { role: "assistant", content: [use] } }),
      );
      await turn.answer([counted(answers(id, "ok"))]);
      await turn.append(call("t1", 2 * index + 2, { sent: [answers(id, "ok")] }));
    }
    await turn.close({ status: "completed", endMs: startMs });
    const tools = await ledger.readToolCalls("t1");
    expect(tools.map(({ status }) => status)).toEqual(Array(5).fill("succeeded"));
  });

  test("texts of people that no database keeps are kept readable, and stop no write", async () => {
    const { ledger } = await open();
    const bad = "a\u0000b\ud800";
    await openSession(ledger, "a", { task: bad, workspacePath: bad, personaId: bad });
    const turn = await ledger.openTurn(newTurn("a", "t1", null, { workspacePath: bad }));
    await turn.append(call("t1", 1, { model: bad }));
    await turn.close({ status: "failed", endMs: startMs, reason: bad });
    expect((await ledger.findTurn("t1"))?.endReason).toMatch(/^a.b/);
  });

  test("the hash differs for what is written differently and means the same", () => {
    const plain = assistant("x");
    const spelled: Message = {
      role: "assistant",
      content: [{ type: "text", text: "x", json: '{"text":"x","type":"text"}' }],
    };
    expect(toMessageText(plain).hash).not.toBe(toMessageText(spelled).hash);
    expect(toMessageText(plain).hash).not.toBe(toMessageText(user("x")).hash);
    expect(toMessageText(plain).hash).toBe(toMessageText(assistant("x")).hash);
  });
}

/** All in one turn, as if they had been sent. */
async function record(ledger: Ledger, messages: readonly Message[]): Promise<void> {
  await openSession(ledger, "a");
  const staged = messages.map((message) => counted(message));
  const turn = await ledger.openTurn(newTurn("a", "t1", null, { messages: staged }));
  await turn.close({ status: "completed", endMs: startMs });
}

function isSame(kept: ThreadMessage, message: Message, text: string): boolean {
  return (
    encodeMessage(kept.message) === text &&
    JSON.stringify(kept.message) === JSON.stringify(message) &&
    kept.hash === toMessageText(message).hash
  );
}
