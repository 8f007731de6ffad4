// A gateway that optimises before a simulator, and the same conversations before another one without it. The clock is the test's.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { openServe } from "../../src/cli/serve/open-serve.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";

export interface OptimizedServe {
  readonly url: string;
  /** Every call so far. */
  readonly calls: readonly ObservedCall[];
  /** Resolves when so many calls were observed. */
  until(count: number): Promise<void>;
}

/** `yaml`: the configuration. */
export async function serveOptimized(yaml: string, isOptimizing: boolean): Promise<OptimizedServe> {
  const folder = mkdtempSync(join(tmpdir(), "strata-serve-"));
  const configFile = join(folder, "strata.yaml");
  writeFileSync(configFile, yaml);
  const calls: ObservedCall[] = [];
  const served = await openServe({
    flags: {
      port: 0,
      host: null,
      configFile,
      upstreams: new Map(),
      isSimulated: true,
      store: join(folder, "ledger.db"),
      recordFolder: null,
      isOptimizing,
      lines: "none",
    },
    env: {},
    onNotice: (notice) => expect.unreachable(notice),
    onCall: (call) => calls.push(call),
  });
  onTestFinished(async () => {
    await served.close("at once");
    rmSync(folder, { recursive: true });
  });
  return {
    url: served.gateway.urls[0] ?? "",
    calls,
    until: (count) => expect.poll(() => calls.length, { timeout: 10_000 }).toBe(count),
  };
}

/** Every clock of this process stands at this time; restored after the test. */
export function setTime(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(ms);
  onTestFinished(() => void vi.useRealTimers());
}
