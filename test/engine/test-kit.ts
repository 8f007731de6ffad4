// An engine as configured in a folder on disk, answered over HTTP by the simulator: what the tests here begin with.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  openEngineFor,
  type OpenEngine,
  type OpenEngineOptions,
} from "../../src/cli/open-engine.ts";
import type { StrataEvent } from "../../src/core/events/event.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from "../../src/simulator/index.ts";
import { openNodeServer } from "../../src/simulator/node-server.ts";

export const plantedKey = "sk-ant-planted-4177-0123456789";

export interface Place {
  readonly folder: string;
  readonly workspace: string;
  readonly configFile: string;
  /** Replaces the configuration by renaming. */
  configure(yaml: string): void;
  /** Writes a file of the workspace. */
  put(path: string, text: string): void;
}

/** A folder with a workspace in it, gone after the test. */
export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "strata-engine-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [workspace, configFile] = [join(folder, "work"), join(folder, "strata.yaml")];
  mkdirSync(workspace);
  return {
    folder,
    workspace,
    configFile,
    configure: (yaml) => {
      writeFileSync(`${configFile}.new`, yaml);
      renameSync(`${configFile}.new`, configFile);
    },
    put: (path, text) => {
      const file = join(workspace, path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, text);
    },
  };
}

export interface Served {
  readonly simulator: Simulator;
  readonly url: string;
}

/** `onRequest` sees each request before it is answered. */
export async function serve(
  options: SimulatorOptions = {},
  onRequest: (headers: Headers, body: string) => void = () => {},
): Promise<Served> {
  const simulator = createSimulator({ seed: 1, ...options });
  const server = await openNodeServer(async (request) => {
    onRequest(request.headers, await request.clone().text());
    return simulator.fetch(request);
  });
  onTestFinished(() => server.close());
  return { simulator, url: server.url };
}

export interface Started extends OpenEngine {
  readonly notices: readonly string[];
}

export async function start(
  { workspace, configFile, folder }: Place,
  more: Partial<OpenEngineOptions> = {},
): Promise<Started> {
  const notices: string[] = [];
  const opened = await openEngineFor({
    workspace,
    configFile,
    env: { STRATA_DATA_DIR: folder },
    homeFolder: folder,
    counter: cheapCounter,
    agent: "ana",
    onNotice: (notice) => void notices.push(notice),
    ...more,
  });
  onTestFinished(() => opened.close());
  return { ...opened, notices };
}

export async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function eventsOf(
  { ledger, events }: Pick<OpenEngine, "ledger" | "events">,
  sessionId: string,
): Promise<readonly StrataEvent[]> {
  await events.flush();
  return readAll(ledger.readEvents({ sessionId }));
}
