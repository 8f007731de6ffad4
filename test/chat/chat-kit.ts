// For tests of `strata chat`: the command on the simulator over loopback and on SQLite in a temporary folder; at the
// terminal with keys that are pressed and a terminal that is written to.
import { EventEmitter } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { plantedKey } from "../../harness/planted-key.ts";
import { chatCommand } from "../../src/cli/chat/chat-command.ts";
import { openChat } from "../../src/cli/chat/open-chat.ts";
import { runChat, type ChatDeps, type ChatOptions } from "../../src/cli/chat/run-chat.ts";
import { parseInput } from "../../src/cli/command.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createTestIo, type Ran } from "../../src/cli/test-kit.ts";
import {
  createAgent,
  createScripted,
  createSimulator,
  type OpenServer,
  type ScriptStep,
} from "../../src/simulator/index.ts";

export interface ChatKit {
  readonly folder: string;
  /** The variables of the command; may be changed. */
  readonly env: Record<string, string>;
  /** Starts a provider with a key that answers by the script. */
  readonly provide: (
    steps: readonly ScriptStep[] | null,
    firstByteMs?: number,
  ) => Promise<OpenServer>;
  readonly chat: (typed: Typed) => Promise<Ran>;
  readonly close: () => Promise<void>;
}

export interface Typed {
  readonly words?: readonly string[];
  readonly prompt?: string;
  readonly lines?: readonly string[] | AsyncIterable<string>;
  readonly terminal?: FakeTerminal;
  readonly showsStatus?: boolean;
}

export async function openChatKit(): Promise<ChatKit> {
  const folder = await mkdtemp(join(tmpdir(), "strata-chat-test-"));
  const env: Record<string, string> = { STRATA_DATA_DIR: join(folder, "data"), HOME: folder };
  const servers: OpenServer[] = [];
  return {
    folder,
    env,
    provide: async (steps, firstByteMs = 0) => {
      const model = steps === null ? createAgent({ steps: 2 }) : createScripted(steps);
      const simulator = createSimulator({ model, latency: { firstByteMs } });
      const server = await simulator.listen({ port: 0 });
      servers.push(server);
      env["ANTHROPIC_API_KEY"] = plantedKey;
      env["ANTHROPIC_BASE_URL"] = server.url;
      return server;
    },
    chat: (typed) => runTyped(env, typed),
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function runTyped(
  env: Readonly<Record<string, string>>,
  { words = [], prompt, lines = [], terminal, showsStatus = false }: Typed,
): Promise<Ran> {
  const { io, said } = createTestIo(env);
  const input = parseInput(chatCommand, words);
  const asked: ChatOptions = {
    prompt: prompt ?? null,
    isJson: input.switches.has("json"),
    model: input.values.get("model") ?? null,
  };
  const isAllowed = input.switches.has("yes");
  const permission = isAllowed ? "allow" : terminal ? "ask" : "refuse";
  const deps: ChatDeps = {
    open: (asks) => openChat(input, io, permission, asks),
    permission,
    terminal: terminal ?? null,
    lines: (async function* () {
      yield* lines;
    })(),
    colours: false,
    showsStatus,
  };
  const status = await runChat(asked, deps, io);
  return { status, ...said };
}

/** The id that the last line of a chat names. */
export function resumedBy({ error }: Pick<Ran, "error">): string {
  return /--resume ([\w-]+)/.exec(error)?.[1] ?? "";
}

/** Leaves a turn open with the message `second`, as a process that died. */
export async function leaveOpen(store: string, sessionId: string): Promise<void> {
  const ledger = await openLedger(store);
  const record = await ledger.findSession(sessionId);
  const content = [{ type: "text", text: "second" }] as const;
  const turn = await ledger.openTurn({
    id: "left-open",
    sessionId,
    parentTurnId: record?.headTurnId ?? null,
    model: record?.model ?? "",
    provider: record?.provider ?? "",
    role: "unified",
    startMs: Date.now(),
    messages: [{ message: { role: "user", content }, tokens: 5 }],
  });
  await turn.release();
  await ledger.close();
}

/** The events that `--json` printed. */
export function eventsIn({ out }: Pick<Ran, "out">): readonly Record<string, unknown>[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

export interface FakeTerminal {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Presses keys once the screen has shown a text. */
  press(...steps: readonly (readonly [seen: RegExp, keys: string])[]): Promise<void>;
  shown(): string;
  isRaw(): boolean;
}

export function openTerminal(): FakeTerminal {
  let [text, isRaw] = ["", false];
  const input = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: (mode: boolean) => (isRaw = mode),
    resume: () => input,
    pause: () => input,
  });
  const output = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 80,
    rows: 40,
    write: (more: string) => ((text += more), output.emit("written")),
  });
  const shown = (): string => stripVTControlCharacters(text);
  return {
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    shown,
    isRaw: () => isRaw,
    press: async (...steps) => {
      for (const [seen, keys] of steps) {
        while (!seen.test(shown())) {
          await new Promise((resolve) => void output.once("written", resolve));
        }
        text = "";
        for (const key of keys === "\r"
          ? [keys]
          : [keys.replace(/\r$/, ""), ...(keys.endsWith("\r") ? ["\r"] : [])]) {
          input.emit("data", Buffer.from(key));
        }
      }
    },
  };
}
