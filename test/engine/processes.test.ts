// Goal: a session outlives its process, and moves between processes, without losing its cache. Method: engines in
// processes of their own on one ledger; the simulator sees their bytes and bills them; one is killed in the middle.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { checkTrace } from "../../harness/check-trace.ts";
import type { Bill, Model } from "../../src/simulator/index.ts";
import type { Answer, Order, ProcessTask } from "./engine-process.ts";
import { eventsOf, makePlace, plantedKey, readAll, serve, start, type Place } from "./test-kit.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(() => server.stop());

/** Looks into the folder first where it is asked to look. */
const model: Model = ({ turns }) => {
  const last = turns.findLast(({ role }) => role === "user");
  const isAsked = last?.toolResults.length === 0 && last.text.includes("Look");
  return isAsked
    ? { parts: [{ kind: "tool use", name: "list", inputJson: "{}" }], stop: "tool use" }
    : {
        parts: [{ kind: "text", text: "It is as it was, word for word. ".repeat(5) }],
        stop: "end",
      };
};

interface Stage {
  readonly place: Place;
  readonly store: string;
  readonly bodies: string[];
  readonly bills: () => readonly (Bill | null)[];
  /** Called when a request arrives; what it throws leaves it without an answer. */
  onArrival: (number: number) => void;
  readonly stall: (afterEvents: number) => void;
}

async function makeStage(kind: "sqlite" | "postgres"): Promise<Stage> {
  const place = makePlace();
  const bodies: string[] = [];
  const { url, simulator } = await serve({ model }, (_headers, body) => {
    bodies.push(body);
    stage.onArrival(bodies.length);
  });
  place.put("AGENTS.md", "Be brief. ".repeat(1500));
  place.configure(`
models: { default: claude-sonnet-4-6 }
tools: { toolset: read-only }
ledger: { lease_seconds: 600 }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }
`);
  const stage: Stage = {
    place,
    store: kind === "sqlite" ? join(place.folder, "ledger.db") : await server.createDatabase(),
    bodies,
    bills: () => simulator.calls().map(({ billed }) => billed?.bill ?? null),
    onArrival: () => {},
    stall: (afterEvents) => simulator.fault({ kind: "stall", afterEvents }),
  };
  return stage;
}

interface EngineProcess {
  readonly child: ChildProcess;
  say(words: string | null): Promise<string>;
}

async function startProcess({ place, store }: Stage): Promise<EngineProcess> {
  const { workspace, configFile, folder } = place;
  const task: ProcessTask = { place: { workspace, configFile, folder }, store };
  const program = fileURLToPath(new URL("engine-process.ts", import.meta.url));
  const child = fork(program, [], { execArgv: [] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const hear = async (): Promise<string> => {
    const [answer] = (await once(child, "message")) as [Answer];
    return "end" in answer ? answer.end : answer.error;
  };
  child.send(task);
  expect(await hear()).toBe("ready");
  return {
    child,
    say: (words) => {
      child.send({ sessionId: "s", words } satisfies Order);
      return hear();
    },
  };
}

/** What will be sent again of a request, to the byte: without markers, and without what is told for one call only. */
function prefixOf(body: string | undefined = ""): string {
  const stable = body
    .replaceAll(/,"cache_control":\{[^}]*\}/g, "")
    .replaceAll(/,?\{"type":"text","text":"Current time: [^"]*"\}/g, "");
  expect(stable.endsWith("]}]}")).toBe(true);
  return stable.slice(0, -"]}".length);
}

function keptTokens(bill: Bill | null | undefined): number {
  if (bill == null) return 0;
  return bill.readTokens + Object.values(bill.writeTokens).reduce((sum, each) => sum + each, 0);
}

async function expectSound(stage: Stage): Promise<void> {
  const started = await start(stage.place, { store: stage.store });
  expect(await readAll(started.ledger.check())).toEqual([]);
  expect(checkTrace(await eventsOf(started, "s"))).toEqual([]);
}

describe.each(["sqlite", "postgres"] as const)("on %s", (kind) => {
  test("a process killed before its second call is answered resumes with the same bytes, and reads what was written", async () => {
    const stage = await makeStage(kind);
    const first = await startProcess(stage);
    stage.onArrival = (number) => {
      if (number !== 2) return;
      first.child.kill("SIGKILL");
      throw new Error("nobody answers it");
    };
    const gone = once(first.child, "exit");
    first.child.send({ sessionId: "s", words: "Look around." } satisfies Order);
    expect((await gone)[1]).toBe("SIGKILL");
    const second = await startProcess(stage);
    expect(await second.say(null)).toBe("done");
    const [, killed, resumed, ...more] = stage.bodies;
    expect(more).toEqual([]);
    expect(prefixOf(resumed)).toBe(prefixOf(killed));
    const [before, after] = stage.bills();
    expect(keptTokens(before)).toBeGreaterThan(1024);
    expect(after?.readTokens).toBe(keptTokens(before));
    await expectSound(stage);
  });

  test("a process killed while a reply streams in resumes with the same bytes, and reads all that was written", async () => {
    const stage = await makeStage(kind);
    const first = await startProcess(stage);
    expect(await first.say("Hello.")).toBe("done");
    stage.stall(4);
    const gone = once(first.child, "exit");
    stage.onArrival = (number) => {
      if (number === 2) setTimeout(() => first.child.kill("SIGKILL"), 300);
    };
    first.child.send({ sessionId: "s", words: "Go on." } satisfies Order);
    await gone;
    const second = await startProcess(stage);
    expect(await second.say(null)).toBe("done");
    const [, killed, resumed, ...more] = stage.bodies;
    expect(more).toEqual([]);
    expect(prefixOf(resumed)).toBe(prefixOf(killed));
    const [one, two, three] = stage.bills();
    expect(two?.readTokens).toBe(keptTokens(one));
    expect(keptTokens(two)).toBeGreaterThan(keptTokens(one));
    expect(three?.readTokens).toBe(keptTokens(two));
    // The session goes on in the new process, and reads on.
    expect(await second.say("And now?")).toBe("done");
    const bills = stage.bills();
    expect(bills.at(-1)?.readTokens).toBe(keptTokens(bills.at(-2)));
    await expectSound(stage);
  });

  test("a session that moves between two processes turn by turn reads what the other one wrote", async () => {
    const stage = await makeStage(kind);
    const processes = [await startProcess(stage), await startProcess(stage)];
    for (let turn = 0; turn < 8; turn += 1) {
      const words = turn % 3 === 2 ? "Look again." : `Turn ${turn}. ${"And so on. ".repeat(30)}`;
      expect(await processes[turn % 2]?.say(words)).toBe("done");
    }
    const bills = stage.bills();
    expect(bills).toHaveLength(10);
    for (const [index, bill] of bills.entries()) {
      const before = bills[index - 1];
      if (before == null) continue;
      expect(bill?.readTokens).toBe(keptTokens(before));
      expect(bill?.readTokens).toBeGreaterThan(1024);
      const [earlier, later] = [index - 1, index].map((each) => prefixOf(stage.bodies[each]));
      expect(later?.startsWith(earlier ?? "?")).toBe(true);
    }
    await expectSound(stage);
  });
});
