// Goal: a busy session takes more, in the way that each message asks for, and every caller learns what became of its message.
// Method: an engine on the simulator whose first turn waits in a tool.
import { expect, test } from "vitest";
import { before } from "../../harness/watch/wrap.ts";
import type { StrataEvent } from "../../src/index.ts";
import { isQueued, partsOf, saidIn, setUp } from "./test-kit.ts";

test("X-36: a follow-up, the default, runs when the turns before it are over, and streams then", async () => {
  const { engine, session, held, letGo } = await setUp();
  const first = session.run("Hold on.");
  await held();
  const second = session.run("Two.", { id: "t2" });
  const third = session.run("Three.", { mode: "follow-up" });
  await isQueued(third);
  expect(await engine.ledger.readQueue("s")).toMatchObject([
    { id: "t2", mode: "follow-up", status: "waiting" },
    { id: third.turnId, status: "waiting" },
  ]);
  letGo();
  expect((await second.result).messages[0]?.content).toEqual([{ type: "text", text: "Two." }]);
  expect((await third.result).end).toBe("done");
  expect((await first.result).end).toBe("done");
  expect(await saidIn(engine.ledger)).toEqual(["Hold on.", "Two.", "Three."]);
  expect((await partsOf(second)).slice(0, 3)).toEqual(["queued", "started", "route"]);
  expect((await partsOf(second)).at(-1)).toBe("ended");
  expect(await engine.ledger.findQueued("t2")).toMatchObject({ status: "taken", turnId: "t2" });
});

test("a message that comes in the same moment as the first one waits behind it", async () => {
  const { engine, session } = await setUp();
  const handles = ["One.", "Two.", "Three."].map((text) => session.run(text));
  await Promise.all(handles.map(({ result }) => result));
  expect(await saidIn(engine.ledger)).toEqual(["One.", "Two.", "Three."]);
});

test("X-36: a steered message goes into the running turn, and its handle is that turn's", async () => {
  const { engine, session, held, letGo } = await setUp();
  const first = session.run("Hold on.");
  await held();
  const steered = session.run("And this.", { mode: "steer" });
  await isQueued(steered);
  letGo();
  const run = await steered.result;
  expect(run.turnId).toBe(first.turnId);
  expect(steered.turnId).toBe(first.turnId);
  expect((await first.result).unsaid).toEqual([]);
  expect(await saidIn(engine.ledger)).toEqual(["Hold on. | And this."]);
  expect(await partsOf(steered)).toEqual(["queued", ...(await partsOf(first))]);
});

test("X-36: a steered message that its turn does not take becomes a follow-up", async () => {
  const { engine, session, held, letGo } = await setUp({ callsMax: 1 });
  const first = session.run("Hold on.");
  await held();
  const steered = session.run("And this.", { mode: "steer" });
  await isQueued(steered);
  letGo();
  expect(await first.result).toMatchObject({ end: "too many calls", unsaid: [] });
  expect((await steered.result).turnId).not.toBe(first.turnId);
  expect(await saidIn(engine.ledger)).toEqual(["And this."]);
});

test("X-36: collected messages share one turn, and each caller gets its handle", async () => {
  const { engine, session, held, letGo } = await setUp({
    queue: { mode: "collect", debounceMs: 30 },
  });
  const first = session.run("Hold on.");
  await held();
  const collected = ["Two.", "Three.", "Four."].map((text) => session.run(text));
  for (const handle of collected) await isQueued(handle);
  letGo();
  const runs = await Promise.all(collected.map(({ result }) => result));
  const [one] = collected;
  expect(runs.map(({ turnId }) => turnId)).toEqual(collected.map(() => one?.turnId));
  expect(collected.map(({ turnId }) => turnId)).toEqual(collected.map(() => one?.turnId));
  expect((await first.result).end).toBe("done");
  expect(await saidIn(engine.ledger)).toEqual(["Hold on.", "Two.\nThree.\nFour."]);
});

test("a collected turn waits until no other message came for the time of debounce_ms", async () => {
  const { engine, session, held, letGo } = await setUp({ queue: { debounceMs: 150 } });
  const busy = session.run("Hold on.");
  await held();
  const first = session.run("Two.", { mode: "collect" });
  await isQueued(first);
  letGo();
  await busy.result;
  const second = session.run("Three.", { mode: "collect" });
  expect((await second.result).turnId).toBe(first.turnId);
  expect(await saidIn(engine.ledger)).toEqual(["Hold on.", "Two.\nThree."]);
});

test("X-36: an interruption stops the running turn and runs before what waits", async () => {
  const { engine, session, held, letGo } = await setUp();
  const first = session.run("Hold on.");
  await held();
  const waiting = session.run("Two.");
  const urgent = session.run("Stop, do this.", { mode: "interrupt" });
  await isQueued(urgent);
  letGo();
  expect(await first.result).toMatchObject({ end: "cancelled", stopReason: "aborted" });
  await Promise.all([waiting.result, urgent.result]);
  expect(await saidIn(engine.ledger)).toEqual(["Stop, do this.", "Two."]);
});

test("X-36: a full queue refuses the new message, drops the oldest, or lists it in a line, and tells who lost it", async () => {
  const dropped: StrataEvent[] = [];
  for (const drop of ["new", "old", "summarize"] as const) {
    const { engine, session, held, letGo } = await setUp({ queue: { cap: 2, drop } });
    engine.events.subscribe((event) => {
      if (event.type === "queue.dropped") dropped.push(event);
    });
    const first = session.run("Hold on.");
    await held();
    const [two, three, four] = ["Two.", "Three.", "Four."].map((text) => session.run(text));
    const results = [two, three, four].map((handle) => handle?.result);
    const full = "the queue of session s has room for 2";
    const lost = drop === "new" ? results[2] : results[0];
    const why = drop === "new" ? full : `the message was dropped from the queue: ${full}`;
    await expect(lost).rejects.toMatchObject({ code: "conflict", message: why });
    letGo();
    await Promise.allSettled([first.result, ...results]);
    expect(await saidIn(engine.ledger)).toEqual([
      "Hold on.",
      ...(drop === "new" ? ["Two.", "Three."] : []),
      ...(drop === "old" ? ["Three.", "Four."] : []),
      ...(drop === "summarize"
        ? ["Earlier messages, dropped because the queue was full:\n- Two. | Three.", "Four."]
        : []),
    ]);
  }
  expect(dropped.map(({ payload }) => payload)).toMatchObject([
    { status: "dropped", cause: "queue_full" },
    { status: "summarized", cause: "queue_full" },
  ]);
});

test("a message that waits can be withdrawn; one without words never waits", async () => {
  const { engine, session, held, letGo } = await setUp();
  const first = session.run("Hold on.");
  await held();
  const second = session.run("Two.");
  await isQueued(second);
  second.abort();
  await expect(second.result).rejects.toThrow("was withdrawn before it had its turn");
  expect(await engine.ledger.findQueued(second.turnId)).toMatchObject({
    status: "dropped",
    reason: "its caller withdrew it",
  });
  await expect(session.run("  ").result).rejects.toThrow("has no content");
  letGo();
  await first.result;
  expect(await saidIn(engine.ledger)).toEqual(["Hold on."]);
  // @ts-expect-error An application without types.
  expect(() => session.run("Two.", { mode: "later" })).toThrow("mode is");
  await expect(setUp({ queue: { cap: 0 } })).rejects.toThrow(
    "the option queue is not what it must be",
  );
});

test("a message that is aborted while the ledger stores it is withdrawn, and interrupts nothing", async () => {
  const { engine, session, held, letGo } = await setUp();
  const first = session.run("Hold on.");
  await held();
  const stop = new AbortController();
  before(engine.ledger, "enqueue", () => stop.abort());
  const second = session.run("Two.", { mode: "interrupt", signal: stop.signal });
  await expect(second.result).rejects.toThrow("was withdrawn before it had its turn");
  expect(await engine.ledger.findQueued(second.turnId)).toMatchObject({
    status: "dropped",
    reason: "its caller withdrew it",
  });
  letGo();
  expect((await first.result).end).toBe("done");
  expect(await saidIn(engine.ledger)).toEqual(["Hold on."]);
});

test("what waits when the session is closed stays in the ledger, and its caller is told", async () => {
  const { engine, session, held, letGo } = await setUp();
  const first = session.run("Hold on.");
  await held();
  const second = session.run("Two.", { id: "t2" });
  await isQueued(second);
  const closing = session.close();
  letGo();
  await closing;
  await expect(second.result).rejects.toMatchObject({
    message: "session s was closed before the message had its turn",
    hint: "the message waits in the ledger: open the session again and call runWaiting",
  });
  expect((await first.result).end).toBe("cancelled");
  const again = await engine.session("s");
  const [waiting] = await again.runWaiting();
  expect((await waiting?.result)?.turnId).toBe("t2");
  expect(await again.runWaiting()).toEqual([]);
  expect(await saidIn(engine.ledger)).toEqual(["Two."]);
});

test("if a waiting turn cannot begin, its callers learn that their messages still wait, and runWaiting runs each once", async () => {
  let isBroken = false;
  const environment = (): { readonly capabilities: [] } => {
    if (isBroken) throw new Error("the inventory is away");
    return { capabilities: [] };
  };
  const { engine, session, held, letGo } = await setUp({ environment });
  const first = session.run("Hold on.");
  await held();
  const [second, third] = [session.run("Two."), session.run("Three.")];
  await isQueued(third);
  letGo();
  await first.result;
  isBroken = true;
  const told = expect.objectContaining({ message: expect.stringContaining("still waits") });
  await expect(second.result).rejects.toEqual(told);
  await expect(third.result).rejects.toEqual(told);
  isBroken = false;
  await Promise.all((await session.runWaiting()).map(({ result }) => result));
  const said = await saidIn(engine.ledger);
  expect(said.filter((text) => text === "Two." || text === "Three.")).toEqual(["Two.", "Three."]);
});
