// Opens the engine of a chat: as configured, in the session's folder; simulated sessions get a ledger of their own.
import { resolve, dirname, join } from "node:path";
import type { Environment } from "../../core/config/environment.ts";
import { resolveAgent } from "../../core/config/resolve-agent.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import { isConnectionString } from "../../edge/stores/open-ledger.ts";
import type { ConfigOption } from "../../core/config/read-config.ts";
import { toPicoUsd } from "../../core/models/pico-usd.ts";
import { toSpending } from "../../host/config/from-config.ts";
import { readConfigPlaces } from "../config/config-places.ts";
import type { CommandInput, Io } from "../command.ts";
import { readConfigOnce } from "../../host/config/read-config-once.ts";
import { openHost, type Host, type HostOptions } from "../../host/open-host.ts";
import { chooseLedgerPlace, type LedgerPlaces } from "../../host/ledger/choose-ledger-place.ts";
import type { Asks, OpenedChat } from "./run-chat.ts";
import type { Permission } from "./session/confirmations.ts";
import { mkdir, writeFile, stat } from "node:fs/promises";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { openScope } from "../../edge/files/guard/scoped-files.ts";
import { closing, openStore } from "../../edge/stores/open-store.ts";
import { findCallSettings } from "../../engine/session/recorded-setup.ts";
import { needSession } from "../use-ledger.ts";
import { simulationOf } from "../../host/ledger/simulated-session.ts";
import { refuseMissing, type LedgerPlace } from "../../host/ledger/ledger-place.ts";
import { findSessionId } from "../sessions/name-session.ts";

export async function openChat(
  input: CommandInput,
  io: Io,
  permission: Permission,
  asks: Asks,
): Promise<OpenedChat> {
  const { values } = input;
  const { env, config } = await readSettings(input, io, permission);
  const [agent, model] = [values.get("agent"), values.get("model")];
  requireAgent(config, agent);
  const [given, wanted] = [values.get("workspace"), values.get("resume")];
  const places = chooseLedgerPlace({
    env: io.env,
    config,
    store: values.get("store"),
    agent,
    model,
    isResumed: wanted !== undefined,
  });
  const resumed = wanted === undefined ? null : await findResumed(places, wanted, given);
  const options: HostOptions = {
    ...asks,
    env,
    store: (resumed?.place ?? places.place).where,
    typed: [
      // A resumed session starts with its own model.
      ...(resumed === null ? modelOption(model) : []),
      ...readCap(values.get("cap"), config, agent ?? resumed?.agent),
    ],
    ...onlyPresent({
      model: resumed?.model ?? model,
      workspace: given ?? resumed?.folder,
      agent: agent ?? resumed?.agent,
      binding: values.get("binding"),
      configFile: values.get("config"),
    }),
    ...(values.has("prompt") && resumed === null ? paceOfPrompt(config, agent) : {}),
  };
  const opened = await openHost(options);
  const { engine, ledger, catalogue, isSimulated, isTemporary } = opened;
  try {
    if (isTemporary) await fillWorkspace(opened.workspace);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return {
    engine,
    ledger,
    isSimulated,
    findModel: (id) => findModel(id, catalogue)?.facts ?? null,
    workspace: resolve(opened.workspace),
    isTemporary,
    files: once(() => openScope(opened.workspace, { guardedFiles: opened.guardedFiles })),
    capPicoUsd: () => capOf(opened),
    agent: opened.agent,
    configFile: values.get("config") ?? null,
    typed: typedAgain(values),
    resumed: resumed?.id ?? null,
    close: () => opened.close(),
  };
}

function modelOption(model: string | undefined): readonly ConfigOption[] {
  return model === undefined
    ? []
    : [{ name: "--model", path: ["models", "default"], value: model }];
}

/** As configured at the moment. */
function capOf({ config, agent }: Pick<Host, "config" | "agent">): bigint | null {
  const { sessionUsd } = toSpending(config(), agent).spending ?? {};
  return sessionUsd === undefined ? null : toPicoUsd(sessionUsd);
}

/** An agent's own cap comes before that for all, so it is the one to replace. */
function readCap(
  text: string | undefined,
  { agents }: StrataConfig,
  agent = "agent",
): readonly ConfigOption[] {
  if (text === undefined) return [];
  if (!/^\d+(?:\.\d+)?$/.test(text)) {
    throw new StrataError("usage", `--cap is ${text}`, "give dollars, as 2 or 0.50");
  }
  const isOwn = (agents.get(agent)?.spending.sessionUsd ?? null) !== null;
  const path = [...(isOwn ? ["agents", agent] : []), "spending", "session_usd"];
  return [{ name: "--cap", path, value: Number(text) }];
}

/** Opened when it is first needed. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => (made ??= make());
}

/** A single prompt is a one-shot; with tools it is a loop, since each tool causes another call. The agent's own pace wins. */
export function paceOfPrompt(config: StrataConfig, agent = "agent"): Pick<HostOptions, "pace"> {
  if ((config.agents.get(agent)?.pace ?? null) !== null) return {};
  const { toolset } = resolveAgent(config, agent);
  return { pace: toolset === "none" ? "one-shot" : "tool loop" };
}

/** If agents are configured, an unknown name is a mistake. */
function requireAgent({ agents }: StrataConfig, name: string | undefined): void {
  if (name === undefined || agents.size === 0 || agents.has(name)) return;
  const known = [...agents.keys()];
  throw new StrataError(
    "usage",
    `there is no agent ${name}`,
    didYouMean(name, known, `there are ${known.join(", ")}`, 1),
  );
}

/** A connection string may hold a password. */
function typedAgain(values: CommandInput["values"]): readonly string[] {
  return ["store", "config"].flatMap((name) => {
    const value = values.get(name);
    if (value === undefined) return [];
    return [`--${name}`, isConnectionString(value) ? "…" : value];
  });
}

/**
 * Configured tool settings win. The defaults: with a user to ask, every tool, and a question before each change;
 * without one, read-only tools, since the others would be refused.
 */
async function readSettings(
  input: CommandInput,
  io: Io,
  permission: Permission,
): Promise<{ readonly env: Environment; readonly config: StrataConfig }> {
  const files = readConfigPlaces(input, io);
  const { config, settings } = await readConfigOnce({ files, env: io.env });
  const isOpen = (path: string): boolean =>
    settings.some((each) => each.path === path && each.origin.kind === "default");
  const wanted: Readonly<Record<string, string>> =
    permission === "refuse"
      ? { toolset: "read-only" }
      : { toolset: "full", bash: "true", confirm: "write,execute,network" };
  const more = Object.entries(wanted).flatMap(([name, value]) =>
    isOpen(`tools.${name}`) ? [[`STRATA_TOOLS__${name.toUpperCase()}`, value] as const] : [],
  );
  return { env: { ...io.env, ...Object.fromEntries(more) }, config };
}

export async function fillWorkspace(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(sampleFiles)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

const sampleFiles: Readonly<Record<string, string>> = {
  "AGENTS.md":
    "# For agents\n\nLook before you answer. A new language comes with a test. Greetings stay on one line.\n",
  ".strata/MEMORY.md": "The tests run with npm test.\n",
  "README.md": "# Greeter\n\nSays hello in several languages. `npm test` runs the tests.\n",
  "src/greet.ts":
    'const greetings = { en: "Hello", de: "Hallo", fr: "Bonjour" };\n\n' +
    "export function greet(name: string, language: keyof typeof greetings): string {\n" +
    "  return `${greetings[language]}, ${name}!`;\n}\n",
  "src/greet.test.ts":
    'import { greet } from "./greet.ts";\n\n' +
    'test("greets in French", () => {\n  expect(greet("Ada", "fr")).toBe("Bonjour, Ada!");\n});\n',
  "notes/ideas.md": "- more languages\n- a greeting for the evening\n",
};

interface Resumed extends Pick<SessionRecord, "id" | "agent"> {
  readonly place: LedgerPlace;
  /** The model of its next turn. */
  readonly model: string;
  /** Its folder; null if that was a temporary one, which is deleted. */
  readonly folder: string | null;
}

/** `latest`: the latest session of this folder, else of any folder; never a sub-agent. */
async function findResumed(
  { place, other }: LedgerPlaces,
  wanted: string,
  given: string | undefined,
): Promise<Resumed> {
  const isLatest = wanted === "latest";
  for (const each of isLatest || other === null ? [place] : [place, other]) {
    const found = await useStore(each, async (ledger) => {
      const record = await findRecord(ledger, wanted, given);
      return record === null ? null : describe(ledger, record, each, given);
    });
    if (found !== null) return found;
  }
  if (!isLatest) await useStore(place, (ledger) => needSession(ledger, wanted, place));
  return refuseMissing(place);
}

/** Null if there is no store. */
async function useStore<Result>(
  { where }: LedgerPlace,
  work: (ledger: Ledger) => Promise<Result>,
): Promise<Result | null> {
  const store = await openStore(where);
  return store === null ? null : closing(store.ledger, () => work(store.ledger));
}

async function findRecord(
  ledger: Ledger,
  wanted: string,
  given: string = process.cwd(),
): Promise<SessionRecord | null> {
  if (wanted !== "latest") return ledger.findSession(await findSessionId(ledger, wanted));
  const all = await ledger.listSessions({ limit: 500 });
  const own = all.filter(({ parent }) => parent === null);
  return own.find(({ workspacePath }) => workspacePath === resolve(given)) ?? own[0] ?? null;
}

async function describe(
  ledger: Ledger,
  record: SessionRecord,
  place: LedgerPlace,
  given: string | undefined,
): Promise<Resumed> {
  const { id, agent } = record;
  const model = (await findCallSettings(ledger, record))?.model ?? record.model;
  const folder = given ?? (await findFolder(record));
  return { id, agent, place, model, folder };
}

/** A missing folder is an error: the session is about that folder. */
async function findFolder(record: SessionRecord): Promise<string | null> {
  const { id, workspacePath: path } = record;
  if (path === null) return null;
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory() === true) return path;
  if (simulationOf(record)?.isTemporary === true) return null;
  throw new StrataError(
    "not-found",
    `the folder of session ${id} does not exist: ${path}`,
    "choose another folder with --workspace",
  );
}
