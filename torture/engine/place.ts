// An engine configured in a folder on disk, with the simulator as its provider over HTTP. Callers close what they open.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type Host, type HostOptions } from "../../src/host/open-host.ts";
import type { StrataEvent } from "../../src/core/events/event.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import {
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from "../../src/simulator/index.ts";
import { openNodeServer } from "../../src/simulator/server/node-server.ts";

export interface Place {
  readonly folder: string;
  readonly workspace: string;
  readonly configFile: string;
  /** Replaces the configuration with a rename. */
  configure(yaml: string): void;
  /** Writes a file of the workspace. */
  put(path: string, text: string): void;
  close(): void;
}

/** A folder with a workspace; closing removes it. */
export function openPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "strata-engine-"));
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
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Called before each request is answered. A returned response replaces the answer; an error cuts the connection. */
export type OnRequest = (request: SeenRequest) => Response | void;

export interface SeenRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface Served {
  readonly simulator: Simulator;
  readonly url: string;
  close(): Promise<void>;
}

export async function serveSimulator(
  options: SimulatorOptions,
  onRequest: OnRequest,
): Promise<Served> {
  const simulator = createSimulator({ seed: 1, ...options });
  const { url, close } = await openNodeServer(async (request) => {
    const body = await request.clone().text();
    const { headers } = request;
    const own = onRequest({ path: new URL(request.url).pathname, headers, body });
    return own ?? simulator.fetch(request);
  });
  return { simulator, url, close };
}

export interface Started extends Host {
  readonly notices: readonly string[];
}

export async function startEngine(
  { workspace, configFile, folder }: Pick<Place, "workspace" | "configFile" | "folder">,
  more: Partial<HostOptions> = {},
): Promise<Started> {
  const notices: string[] = [];
  const opened = await openHost({
    workspace,
    configFile,
    env: { STRATA_DATA_DIR: folder },
    homeFolder: folder,
    counter: cheapCounter,
    agent: "ana",
    onNotice: (notice) => void notices.push(notice),
    ...more,
  });
  return { ...opened, notices };
}

export async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function eventsOf(
  { ledger, events }: Pick<Host, "ledger" | "events">,
  sessionId: string,
): Promise<readonly StrataEvent[]> {
  await events.flush();
  return readAll(ledger.readEvents({ sessionId }));
}
