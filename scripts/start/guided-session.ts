// A scripted session of `strata chat` with the simulator's agent model, a virtual clock and a new folder. Everything
// it reads from the machine is fixed, so it costs the same everywhere.
import { openScope } from "../../src/edge/files/guard/scoped-files.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillWorkspace } from "../../src/cli/chat/open-chat.ts";
import { runChat, type Asks, type ChatDeps, type OpenedChat } from "../../src/cli/chat/run-chat.ts";
import type { PolicyName } from "../../src/core/cache/policy.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { anthropicEndpoint } from "../../src/core/wire/anthropic-messages/access.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { makeStore, type OpenStore } from "../../src/edge/stores/open-store.ts";
import type { Reached } from "../../src/engine/session/engine-deps.ts";
import { createEngine } from "../../src/engine/session/create-engine.ts";
import { openWorkspaceWorld } from "../../src/engine/world/workspace-world.ts";
import { openEvents } from "../../src/host/ledger/open-events.ts";
import { createAgent, createSimulator, type Simulator } from "../../src/simulator/index.ts";

export interface GuideStep {
  /** Time before this step, on the session's clock. */
  readonly afterMs: number;
  /** A note for the viewer before the step. */
  readonly aside?: string;
  readonly line: string;
}

export interface GuidedOptions {
  readonly model: string;
  readonly policy: PolicyName;
  readonly steps: readonly GuideStep[];
  readonly counter: TextCounter;
  readonly out: (text: string) => void;
  /** Receives the asides, one line each. */
  readonly note: (text: string) => void;
  readonly colours: boolean;
  readonly width: number;
  /** Awaited before each step: resolves when all output so far was shown. */
  readonly seen: () => Promise<void>;
}

/** The finished session. */
export interface GuidedSession {
  readonly store: OpenStore;
  readonly sessionId: string;
  /** The end on the session's clock. */
  readonly endMs: number;
  close(): Promise<void>;
}

export const sessionId = "guided";

/** Throws if a turn failed. */
export async function runGuided(options: GuidedOptions): Promise<GuidedSession> {
  const { out, colours, width } = options;
  const simulator = createSimulator({
    seed: 1,
    clock: "virtual",
    model: createAgent({ steps: 2 }),
  });
  const store = await makeStore(":memory:");
  try {
    const deps: ChatDeps = {
      open: (asks) => openGuided(options, simulator, store, asks),
      permission: "refuse",
      terminal: null,
      lines: typeLines(options, simulator),
      colours,
      width,
      showsStatus: true,
    };
    const wish = { prompt: null, isJson: false, model: null };
    // Hides the hint on how to resume, because the session ends with the program.
    const status = await runChat(wish, deps, { out, error: () => {}, env: {} });
    // The user stopped it with a signal.
    if (status > 128) process.exit(status);
    if (status !== 0) throw new Error(`the chat ended with status ${status}`);
  } catch (error) {
    await store.ledger.close();
    throw error;
  }
  return { store, sessionId, endMs: simulator.clock.now(), close: () => store.ledger.close() };
}

async function* typeLines(
  { steps, out, note, seen }: GuidedOptions,
  { clock }: Simulator,
): AsyncGenerator<string> {
  for (const { afterMs, aside, line } of steps) {
    await seen();
    await clock.advance(afterMs);
    if (aside !== undefined) {
      out("\n");
      note(aside);
    }
    yield line;
  }
}

/** Opens a chat like the command without a key, with a fixed clock and machine. */
async function openGuided(
  { model, policy, counter }: GuidedOptions,
  simulator: Simulator,
  { ledger }: OpenStore,
  { confirm, onNotice }: Asks,
): Promise<OpenedChat> {
  const workspace = await mkdtemp(join(tmpdir(), "strata-start-"));
  await fillWorkspace(workspace);
  const now = (): number => simulator.clock.now();
  const events = openEvents({ ledger, onNotice, nowUs: () => now() * 1000 });
  const server = await simulator.listen({ port: 0 });
  const provider = createProvider({
    protocol: anthropicMessages,
    ...anthropicEndpoint({ apiKey: "none needed", baseUrl: server.url }),
  });
  const reached: Reached = {
    protocol: anthropicMessages,
    provider: {
      send: async (call) => {
        const sent = await provider.send(call);
        await simulator.clock.advance(callMs);
        return sent;
      },
    },
  };
  const world = openWorkspaceWorld({
    workspace,
    ledger,
    events,
    now,
    confirm,
    onNotice,
    readOnly: true,
    parts: { runtime: { host: "example", os: "linux", arch: "x64" } },
  });
  const deps = { ledger, events, counter, now, world, reach: () => reached };
  const engine = createEngine({ model, policy }, deps);
  return {
    engine: { ...engine, open: (given) => engine.open({ ...given, id: sessionId }) },
    ledger,
    isSimulated: true,
    findModel: () => null,
    workspace,
    isTemporary: true,
    files: () => openScope(workspace),
    capPicoUsd: () => null,
    agent: "agent",
    configFile: null,
    typed: [],
    resumed: null,
    close: async () => {
      await engine.close();
      await events.close();
      await provider.close();
      await server.close();
      await rm(workspace, { recursive: true, force: true });
    },
  };
}

/** Duration of a reply. */
const callMs = 4_000;
