// `strata serve` with keys of its own, before the simulator or a server of the test's own, and requests of their holders.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { plantedKey, plantedOpenaiKey, plantedToken } from "../../harness/planted-key.ts";
import { openServe, type Served } from "../../src/cli/serve/open-serve.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";

/** The keys of two clients, and the one that an upstream knows. */
export const ana: string = plantedKey;
export const ben: string = plantedOpenaiKey;
/** Not planted: no key may stand in an address, so this one shows that it gets no further. */
export const carl = "sk-strata-in-the-query-of-a-request";
export const upstreamKey: string = `sk-up-${plantedToken}`;

export interface KeyedServe {
  readonly served: Served;
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Every call so far. */
  readonly calls: readonly ObservedCall[];
  readonly notices: readonly string[];
  /** Writes the configuration anew. */
  configure(yaml: string): Promise<void>;
  close(): Promise<void>;
}

export interface KeyedSetting {
  /** Below `gateway:`, as flow YAML. */
  readonly gateway: string;
  /** Without one, the simulator. */
  readonly upstream?: string;
  /** The folder of another gateway, whose ledger is shared. */
  readonly folder?: string;
  /** Instead of a file in the folder. */
  readonly store?: string;
  readonly isOptimizing?: boolean;
  readonly host?: string;
}

/** Ana's and Ben's keys are in variables. */
export async function serveKeyed(setting: KeyedSetting): Promise<KeyedServe> {
  const folder = setting.folder ?? mkdtempSync(join(tmpdir(), "strata-keys-"));
  const configFile = join(folder, `strata-${(opened += 1)}.yaml`);
  const toYaml = (gateway: string): string =>
    setting.upstream === undefined
      ? `gateway: ${gateway}\n`
      : `gateway: ${gateway.replace(/\}\s*$/, `, upstreams: { anthropic: { base_url: "${setting.upstream}", key_env: UP_KEY } } }`)}\n`;
  writeFileSync(configFile, toYaml(setting.gateway));
  const [calls, notices]: [ObservedCall[], string[]] = [[], []];
  const served = await openServe({
    flags: {
      port: 0,
      host: setting.host ?? null,
      configFile,
      upstreams: new Map(),
      isSimulated: setting.upstream === undefined,
      store: setting.store ?? join(folder, "ledger.db"),
      recordFolder: null,
      isOnlyApi: false,
      isDemo: false,
      isOptimizing: setting.isOptimizing ?? false,
      lines: "none",
    },
    env: { ANA: ana, BEN: ben, CARL: carl, UP_KEY: upstreamKey },
    onNotice: (notice) => notices.push(notice),
    onCall: (call) => calls.push(call),
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await served.close("at once");
    isOpen = false;
  };
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    served,
    url: served.gateway.urls[0] ?? "",
    port: served.gateway.port,
    folder,
    calls,
    notices,
    configure: async (gateway) => {
      writeFileSync(configFile, toYaml(gateway));
      await served.reload();
    },
    close,
  };
}

let opened = 0;

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly retryAfter: string | null;
  readonly body: string;
}

/** A question to the Messages API. */
export async function ask(
  url: string,
  key: string | null,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const headers = {
    "anthropic-version": "2023-06-01",
    ...(key === null ? {} : { "x-api-key": key }),
  };
  return send(url, "/v1/messages", headers, {
    model: "claude-sonnet-4-5",
    max_tokens: 100,
    messages: [{ role: "user", content: "What is here?" }],
    ...more,
  });
}

export async function send(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    code: response.headers.get("x-strata-error"),
    retryAfter: response.headers.get("retry-after"),
    body: await response.text(),
  };
}

export async function untilCalls({ calls }: KeyedServe, count: number): Promise<void> {
  await expect.poll(() => calls.length, { timeout: 10_000, interval: 2 }).toBe(count);
}

export async function untilRecorded({ served }: KeyedServe, count: number): Promise<void> {
  const recorded = (): number => served.gateway.stats().recordedCount;
  await expect.poll(recorded, { timeout: 10_000, interval: 2 }).toBe(count);
}
