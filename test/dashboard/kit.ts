// The dashboard in a real browser, over the real API, on a ledger of the test's own.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openApi, type Api } from "../../src/api/open-api.ts";
import { openPage } from "../../src/dashboard/open-page.ts";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { block, gatewayCall, missed } from "../ledger/gateway-kit.ts";

export interface Dashboard {
  readonly url: string;
  readonly api: Api;
  /** As a gateway does beside it. */
  record(calls: readonly GatewayCall[]): Promise<void>;
  /** The server ends, with all its connections; then one at the same address begins. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface DashboardSetting {
  readonly calls: readonly GatewayCall[];
  readonly token?: string;
}

export async function openDashboard({ calls, token }: DashboardSetting): Promise<Dashboard> {
  const folder = mkdtempSync(join(tmpdir(), "strata-dashboard-"));
  const store = join(folder, "ledger.db");
  const record = (more: readonly GatewayCall[]): Promise<void> =>
    inLedger(store, async (ledger) => {
      await ledger.recordCalls(more);
    });
  await record(calls);
  let open = await listen(store, token ?? null, 0);
  const port = open.port;
  let isOpen = true;
  const stop = async (): Promise<void> => {
    if (isOpen) await open.close();
    isOpen = false;
  };
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    api: open.api,
    record,
    stop,
    start: async () => {
      open = await listen(store, token ?? null, port);
      isOpen = true;
    },
  };
}

interface Listening {
  readonly api: Api;
  readonly port: number;
  close(): Promise<void>;
}

async function listen(store: string, token: string | null, port: number): Promise<Listening> {
  const api = openApi({
    store,
    token,
    models: null,
    isEncrypted: false,
    onProblem: (problem) => expect.unreachable(problem),
  });
  const page = openPage();
  const server = createServer((incoming, outgoing) =>
    (api.takes(incoming.url ?? "") ? api : page).answer(incoming, outgoing),
  );
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    api,
    port: typeof address === "object" ? (address?.port ?? 0) : 0,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      await api.close();
    },
  };
}

export interface Look {
  readonly width?: number;
  readonly colours?: "light" | "dark";
}

/** What the browser complained about: errors, refused policies, failed loads. */
export interface Seen {
  readonly page: Page;
  readonly complaints: string[];
}

export async function look(
  browser: Browser,
  { width = 1280, colours = "light" }: Look = {},
): Promise<Seen> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: colours,
    locale: "en-GB",
    timezoneId: "UTC",
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", ({ message }) => complaints.push(message));
  return { page, complaints };
}

/** A conversation of five calls, the last one at the given time: the tools change at the third, a pause before the fifth; and a sub-agent of two. */
export function someCalls(
  lastMs: number = Date.now() - 6 * 60_000,
  names: Readonly<Record<"client" | "section" | "model", string>> = usualNames,
): readonly GatewayCall[] {
  const call = (number: number, more: Partial<GatewayCall>): GatewayCall => {
    const startMs = lastMs - (6 - number) * 60_000;
    const times = { startMs, firstByteMs: startMs + 300, endMs: startMs + 900 };
    const made = gatewayCall("talk", number, { ...times, ...more }, { client: names.client });
    return { ...made, costPicoUsd: 31_000_000_000n, plainCostPicoUsd: 240_000_000_000n };
  };
  const tools = { ...block("tool Bash"), tier: "T0", tokens: 2000 } as const;
  const result = { ...block(names.section), tokens: 12_400 };
  return [
    call(1, { addedBlocks: [tools, block("user message 1")], usage: usage(0, 2040) }),
    call(2, {
      keptBlocks: 2,
      addedBlocks: [result],
      usage: usage(2040, 12_400),
      otherPolicies: [
        { policy: "tail-1h", costPicoUsd: 20_000_000_000n },
        { policy: "none", costPicoUsd: 240_000_000_000n },
      ],
    }),
    call(3, {
      addedBlocks: [{ ...tools, section: "tool Grep" }, block("user message 1"), result],
      usage: usage(0, 14_440),
      explanation: {
        ...missed({}),
        cause: "tools changed",
        lostTokens: 14_000,
        lostPicoUsd: 27_500_000_000n,
      },
    }),
    call(4, { keptBlocks: 3, addedBlocks: [block("user message 4")], usage: usage(14_440, 40) }),
    call(6, {
      keptBlocks: 4,
      addedBlocks: [block("user message 5")],
      usage: usage(14_480, 40),
      factsId: null,
      model: names.model,
    }),
    gatewayCall(
      "worker",
      1,
      { startMs: lastMs - 30_000, endMs: lastMs - 29_990 },
      { parentId: "talk", kind: "sub-agent" },
    ),
  ];
}

/** Markup, text that runs from right to left, and a word of ten thousand letters. */
export const hostileNames = {
  client: `<img src=x onerror="document.title='owned'">${"w".repeat(9000)}`,
  section: `</script><script>document.title='owned'</script>\u202Eevil`,
  model: "<b>model</b>",
};

const usualNames = {
  client: "claude-code",
  section: "tool result of Bash",
  model: "claude-sonnet-5-20260929",
};

function usage(read: number, written: number): NonNullable<GatewayCall["usage"]> {
  return {
    uncachedTokens: 12,
    cacheReadTokens: read,
    cacheWriteTokens: { "5m": written },
    outputTokens: 200,
    reasoningTokens: 0,
  };
}
