// One client's job through a gateway of its own: client -> relay -> gateway -> relay -> simulator.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DoneExchange } from "../../src/gateway/exchange-book.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { openGateway } from "../../src/gateway/open-gateway.ts";
import { upstreamsAt } from "../../src/gateway/upstreams/built-in.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";
import { createSimulator, type Call, type Model } from "../../src/simulator/index.ts";
import type { OptimizeSettings } from "../../src/gateway/optimize/may-mark.ts";
import { billAgain } from "./bill-again.ts";
import { createDelegator } from "./delegator.ts";
import type { Client, Place } from "./clients.ts";
import { runProgram, type Ended } from "./run-program.ts";
import { compareTaps, openTap, type Sameness, type Tap } from "./tap.ts";

export interface Tried {
  readonly client: string;
  /** The first prompt's run, and that of the second one in the same session. */
  readonly runs: readonly Ended[];
  readonly calls: readonly ObservedCall[];
  readonly exchanges: readonly DoneExchange[];
  readonly billed: readonly Call[];
  /** The bill of the same requests as the client sent them. Null where the gateway only observes. */
  readonly billedUnmarked: readonly Call[] | null;
  readonly sameness: Sameness;
  readonly userAgents: readonly string[];
  readonly faults: number;
  readonly problems: readonly string[];
}

const prompts = {
  first: "Look at the files of this project and say in two sentences what it does.",
  again: "Now say which of its files you would change first, and why.",
} as const;

export interface TryOptions {
  /** The clients are installed in folders of it. */
  readonly dir: string;
  readonly msMax: number;
  /** Whether the gateway places markers in every conversation. */
  readonly optimizes: boolean;
  /** So long the person is away between the two prompts, by the clocks of gateway and simulator. */
  readonly pauseMs: number;
}

const everyConversation: OptimizeSettings = {
  share: 100,
  holdout: 0,
  upstreams: [],
  clients: [],
  logins: false,
  repairs: [],
  fanOutMs: 0,
  diagnose: false,
  keepWarm: { usdPerHour: null, logins: false },
};

/** Null if it is not installed under the folder. */
export async function tryClient(
  client: Client,
  { dir, msMax, optimizes, pauseMs }: TryOptions,
): Promise<Tried | null> {
  const folder = join(dir, client.name);
  const path = join(folder, "node_modules", ".bin", client.program);
  if (!existsSync(path)) return null;
  const run = join(folder, "run");
  rmSync(run, { recursive: true, force: true });
  const createModel = (): Model => createDelegator(client.subAgent);
  const simulator = createSimulator({ model: createModel() });
  const upstream = await simulator.listen();
  const behind = await openTap(upstream.url);
  const [calls, exchanges, problems]: [ObservedCall[], DoneExchange[], string[]] = [[], [], []];
  mkdirSync(run, { recursive: true });
  const gateway = await openGateway({
    table: toUpstreamTable(new Map(), upstreamsAt(behind.url)),
    env: {},
    store: join(run, "ledger.db"),
    optimize: optimizes ? everyConversation : null,
    onCall: (call) => calls.push(call),
    onExchange: (done) => exchanges.push(done),
    onProblem: (problem) => problems.push(problem),
  });
  const before = await openTap(gateway.urls[0] ?? "");
  try {
    const runs = await runJob(client, { path, run, url: before.url, msMax, pauseMs });
    await settle(before, behind);
    const sent = before.passed.map((passed) => passed.sent);
    return {
      client: client.name,
      runs,
      calls,
      exchanges,
      problems,
      billed: simulator.calls(),
      billedUnmarked: optimizes ? await billAgain(sent, createModel()) : null,
      sameness: compareTaps(before.passed, behind.passed, optimizes),
      userAgents: [...new Set(before.passed.map(({ userAgent }) => userAgent))],
      faults: gateway.state().observer.faults,
    };
  } finally {
    Date.now = realNow;
    await before.close();
    await gateway.close(1000);
    await behind.close();
    await upstream.close();
  }
}

interface Job {
  readonly path: string;
  readonly run: string;
  readonly url: string;
  readonly msMax: number;
  readonly pauseMs: number;
}

const realNow = Date.now;

async function runJob(
  client: Client,
  { path, run, url, msMax, pauseMs }: Job,
): Promise<readonly Ended[]> {
  const place: Place = { home: join(run, "home"), workspace: join(run, "project"), url };
  mkdirSync(join(place.home, "tmp"), { recursive: true });
  for (const [name, text] of Object.entries(project)) write(join(place.workspace, name), text);
  execFileSync("git", ["init", "-q"], { cwd: place.workspace });
  for (const [name, text] of Object.entries(client.files(place))) {
    write(join(place.home, name), text);
  }
  const { home, workspace } = place;
  const shared = { path, home, workspace, msMax, env: client.env(place) };
  const first = await runProgram({
    ...shared,
    words: client.first(prompts.first, place),
    logFile: join(run, "first.log"),
  });
  Date.now = () => realNow() + pauseMs;
  const again = await runProgram({
    ...shared,
    words: client.again(prompts.again, place),
    logFile: join(run, "again.log"),
  });
  return [first, again];
}

/** Small, so that the clients' own prompts are most of what is sent. */
const project: Readonly<Record<string, string>> = {
  "README.md": "# Tide\n\nPrints when the water is high in a harbour.\n",
  "package.json": '{"name":"tide","type":"module","scripts":{"start":"node src/tide.js"}}\n',
  "src/tide.js":
    'import { harbours } from "./harbours.js";\n\nfor (const { name, high } of harbours) console.log(name, high);\n',
  "src/harbours.js": 'export const harbours = [{ name: "Husum", high: "12:40" }];\n',
};

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A client's last answers end at the two relays one after the other. */
async function settle(before: Tap, behind: Tap): Promise<void> {
  for (let tries = 0; tries < 20 && before.passed.length !== behind.passed.length; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
