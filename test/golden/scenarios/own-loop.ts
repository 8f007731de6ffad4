// Applications with a loop of their own: they send the bytes and run the tools.
import { sendsNothing, type EngineSession, type OwnCall, type StreamPart } from "../kit.ts";
import type { Process } from "../process.ts";
import { asks, look, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { toCall, toResult } from "../watch-turn.ts";

const talk = script(
  asks("Looking.", look("a.ts"), look("b.ts")),
  { text: "It is line 3." },
  { text: "You are welcome." },
  { text: "And that is the end." },
  asks("Looking again.", look("c.ts")),
  { text: "Nothing there." },
);

function start(stage: Stage, stream: boolean): Promise<Process> {
  const reach = () => ({ protocol: stage.side.protocol, provider: sendsNothing });
  return stage.start({ stream, deps: { reach } });
}

/** A part in the words of the records, which are older than ours. */
function toRecordedPart(part: StreamPart): unknown {
  switch (part.type) {
    case "text":
    case "thinking":
      return { ...part, type: `${part.type}-delta` };
    case "tool":
      return { type: "tool-use-started", id: part.toolUseId, name: part.name };
    case "tool-input":
      return { type: "tool-input-delta", id: part.toolUseId, json: part.json };
  }
}

/** Sends a call and records what comes, with what is next. */
async function send(
  stage: Stage,
  session: EngineSession,
  call: OwnCall,
  { stream = false, steer }: { readonly stream?: boolean; readonly steer?: string } = {},
): Promise<readonly string[]> {
  const base = call.path.startsWith("/v1/") ? stage.url : `${stage.url}/v1`;
  const response = await fetch(`${base}${call.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...stage.side.headers, ...call.headers },
    body: call.toBytes(),
  });
  const parts: unknown[] = [];
  const recorded = await session.record(call, stream ? eventsOf(await response.text()) : response, {
    onPart: (part) => void parts.push(toRecordedPart(part)),
    ...(steer === undefined ? {} : { steer }),
  });
  const { turnId, number, protocol, path, plan } = call;
  stage.parts.push({ turnId, number, parts });
  stage.results.push({
    prepared: { turnId, number, protocol, path, markers: plan.markers.length },
    headers: Object.keys(call.headers),
    entry: toCall(recorded.entry),
    toolUses: recorded.toolUses,
    run: recorded.run === null ? null : toResult(recorded.run),
  });
  return recorded.toolUses.map(({ id }) => id);
}

/** The events of a stream, as an SDK gives them. */
async function* eventsOf(text: string): AsyncGenerator {
  for (const event of text.split("\n\n")) {
    const data = event.split("\n").find((line) => line.startsWith("data: "));
    if (data === undefined || data === "data: [DONE]") continue;
    yield await Promise.resolve(JSON.parse(data.slice("data: ".length)));
  }
}

async function play(stage: Stage, stream: boolean): Promise<void> {
  const process = await start(stage, stream);
  const session = await process.engine.open({ id: "golden" });
  const first = await session.prepare("Why is CI red?", { id: stage.nextTurnId() });
  const [one = "", two = ""] = await send(stage, session, first, { stream });
  await stage.pass(500);
  const answers = [
    { toolUseId: one, content: "a.ts is green" },
    { toolUseId: two, content: "b.ts is red in line 3", isError: true },
  ];
  await send(stage, session, await session.prepare(answers), { stream });
  await stage.pass(10_000);
  const thanks = await session.prepare("Thanks.", { id: stage.nextTurnId() });
  await send(stage, session, thanks, { stream, steer: "And is that all?" });
  await send(stage, session, await session.prepare([]), { stream });
  await process.end();
}

export const ownLoop: Scenarios = {
  "own-loop-whole": { answer: talk, play: (stage) => play(stage, false) },
  "own-loop-streamed": { answer: talk, play: (stage) => play(stage, true) },

  /** What was thrown instead of a reply, a turn given up, and one let go of and taken up elsewhere. */
  "own-loop-ends": {
    answer: talk,
    play: async (stage) => {
      const process = await start(stage, false);
      const session = await process.engine.open({ id: "golden" });
      const failing = await session.prepare("One.", { id: stage.nextTurnId() });
      const failed = await session.record(failing, new TypeError("fetch failed"));
      stage.results.push(failed.run === null ? null : toResult(failed.run));
      await session.prepare("Two.", { id: stage.nextTurnId() });
      const abandoned = await session.abandon("not wanted");
      stage.results.push(abandoned === null ? null : toResult(abandoned));
      const released = await session.prepare("Three.", { id: stage.nextTurnId() });
      await send(stage, session, released);
      await session.release();
      await process.end();
      await stage.pass(5_000);

      const other = await start(stage, false);
      const again = await other.engine.resume("golden");
      const step = await again.prepareUnfinished();
      stage.results.push({ unfinished: step.toolUses, run: step.run });
      const answers = step.toolUses.map(({ id }) => ({ toolUseId: id, content: "green" }));
      await send(stage, again, await again.prepare(answers));
      await other.end();
    },
  },
};
