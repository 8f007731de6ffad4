// A hostile MCP server against an agent's session: every use is answered, nothing hangs or crashes, and the prompt keeps its beginning.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atLeast, below, exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { createRandom } from "../harness/random-message.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { openHost, type Host } from "../src/host/open-host.ts";
import type { Model, Prompt, Reply } from "../src/simulator/index.ts";

export const experiment: Experiment = {
  summary:
    "a hostile MCP server (huge, slow, changing, wrong, dead) never hangs or crashes a session, and its prefix stays",
  options: {
    calls: "how many uses of its tools, 10000 by default",
    seed: "where to start, 1 by default",
  },
  async run(settings) {
    const count = wholeNumber(settings, "calls", 10_000);
    const seed = wholeNumber(settings, "seed", 1);
    const folder = mkdtempSync(join(tmpdir(), "strata-mcp-torture-"));
    const strays: unknown[] = [];
    const onStray = (error: unknown): void => void strays.push(error);
    process.on("unhandledRejection", onStray).on("uncaughtException", onStray);
    const tally = newTally();
    try {
      await runIn(folder, { count, seed, tally, progress: settings.progress });
    } finally {
      process.off("unhandledRejection", onStray).off("uncaughtException", onStray);
      rmSync(folder, { recursive: true, force: true });
    }
    for (const stray of strays) settings.progress(`unhandled: ${String(stray)}`);
    return report(tally, { count, seed, strays: strays.length });
  },
};

interface Tally {
  uses: number;
  fine: number;
  failed: number;
  unanswered: number;
  slowestMs: number;
  /** Every beginning that a session's requests had: its tools, as they were sent. */
  readonly beginnings: Map<string, Set<string>>;
  readonly lists: Set<string>;
}

function newTally(): Tally {
  return {
    uses: 0,
    fine: 0,
    failed: 0,
    unanswered: 0,
    slowestMs: 0,
    beginnings: new Map(),
    lists: new Set(),
  };
}

interface Run {
  readonly count: number;
  readonly seed: number;
  readonly tally: Tally;
  readonly progress: (line: string) => void;
}

const usesPerReply = 10;
const repliesPerTurn = 5;
const turnsPerSession = 5;

async function runIn(folder: string, { count, seed, tally, progress }: Run): Promise<void> {
  const server = join(import.meta.dirname, "mcp", "hostile-server.ts");
  const config = join(folder, "strata.yaml");
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  writeFileSync(
    config,
    [
      "mcp:",
      "  hostile:",
      `    command: ${JSON.stringify(process.execPath)}`,
      `    args: ${JSON.stringify([server, String(seed)])}`,
      "    trusted: true",
      "    timeout_seconds: 1",
      "tools: { limits: { output_bytes_max: 2000, at_once_max: 16 } }",
      "",
    ].join("\n"),
  );
  const host: Host = await openHost({
    env: { STRATA_DATA_DIR: folder, HOME: folder },
    configFile: config,
    workspace,
    counter: cheapCounter,
    homeFolder: folder,
    simulator: { model: createCaller(seed, tally) },
    onSettled: ({ failure, output }) => {
      tally.uses += 1;
      if (failure !== null || output?.isFailed === true) tally.failed += 1;
      else tally.fine += 1;
    },
  });
  try {
    for (let session = 0; tally.uses < count; session += 1) {
      const opened = await host.engine.open({ id: `session-${session}` });
      for (let turn = 0; turn < turnsPerSession && tally.uses < count; turn += 1) {
        const startMs = performance.now();
        const before = tally.uses;
        const { end } = await opened.run(`session-${session} goes on`).result;
        if (end !== "done") progress(`session ${session}, turn ${turn}: ${end}`);
        const expected = usesPerReply * repliesPerTurn;
        tally.unanswered += Math.abs(tally.uses - before - expected);
        tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startMs);
      }
      progress(`${tally.uses} of ${count}: ${tally.fine} fine, ${tally.failed} failed`);
    }
  } finally {
    await host.close();
  }
}

/** Asks for tools of the server in five replies of each turn, then says that it is done. */
function createCaller(seed: number, tally: Tally): Model {
  const random = createRandom(seed);
  let replies = 0;
  return (prompt) => {
    if (prompt.wants === "summary") return said("what happened so far");
    note(prompt, tally);
    const names = prompt.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__"));
    replies += 1;
    if (replies > repliesPerTurn || names.length === 0) {
      replies = 0;
      return said("done");
    }
    const uses = Array.from({ length: usesPerReply }, () => ({
      kind: "tool use" as const,
      name: names[Math.floor(random() * names.length)] ?? "",
      inputJson: '{"how":"a"}',
    }));
    return { parts: uses, stop: "tool use" };
  };
}

function said(text: string): Reply {
  return { parts: [{ kind: "text", text }], stop: "end" };
}

function note({ tools, turns }: Prompt, { beginnings, lists }: Tally): void {
  const session = turns.map(({ text }) => /session-\d+/.exec(text)?.[0]).find(Boolean) ?? "";
  const beginning = JSON.stringify(tools);
  lists.add(beginning);
  const known = beginnings.get(session) ?? new Set();
  beginnings.set(session, known.add(beginning));
}

function report(
  tally: Tally,
  {
    count,
    seed,
    strays,
  }: { readonly count: number; readonly seed: number; readonly strays: number },
): Awaited<ReturnType<Experiment["run"]>> {
  const { uses, fine, failed, unanswered, slowestMs, beginnings, lists } = tally;
  const changed = [...beginnings.values()].filter(({ size }) => size > 1).length;
  return {
    figures: {
      uses,
      seed,
      fine,
      failed,
      sessions: beginnings.size,
      "lists of tools": lists.size,
      "slowest turn (ms)": slowestMs,
    },
    checks: [
      atLeast("uses of tools", uses, count),
      exactly("sessions whose tools changed", changed, 0),
      exactly("uses without exactly one result", unanswered, 0),
      exactly("crashes", strays, 0),
      below("slowest turn in seconds", slowestMs / 1000, 120),
      atLeast("uses that went well", fine, Math.floor(count / 4)),
      atLeast("uses that failed as a tool's error", failed, Math.floor(count / 20)),
      // Else the server did not change its tools, and nothing was shown.
      atLeast("lists of tools over all sessions", lists.size, count < 2000 ? 1 : 2),
    ],
  };
}
