// What a chat runs on: the engine as configured, in the session's folder, on a ledger that real money is not mixed with.
import { dirname, join, resolve } from "node:path";
import type { ConfigOption } from "../../core/config/read-config.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { modelOf } from "../../core/config/resolve-agent.ts";
import { toConfigError } from "../../core/config/config-problem.ts";
import { loadConfig } from "../../edge/config/load-config.ts";
import { isUsable } from "../../edge/providers/reach-choice.ts";
import { readConfigPlaces } from "../config-places.ts";
import type { CommandInput, Io } from "../command.ts";
import { openEngineFor, type OpenEngineOptions } from "../open-engine.ts";
import { readConfig, readStore, type Environment } from "../read-config.ts";
import { findResumed, type Resumed } from "./find-resumed.ts";
import type { ChatEdges, OpenedChat } from "./run-chat.ts";
import { fillWorkspace } from "./sample-workspace.ts";

export type Asks = Parameters<ChatEdges["open"]>[0];

/** Who can be asked whether a tool may run. */
export type Whom = ChatEdges["whom"];

export async function openChat(
  input: CommandInput,
  io: Io,
  whom: Whom,
  { confirm, onNotice }: Asks,
): Promise<OpenedChat> {
  const { values } = input;
  const { env, config } = await readSettings(input, io, whom);
  const store = placeOf(io.env, values.get("store"), config);
  const resume = values.get("resume");
  const given = values.get("workspace");
  const resumed = resume === undefined ? null : await findResumed(store, resume, given);
  const workspace = given ?? (await folderOf(resumed));
  const options: OpenEngineOptions = {
    env,
    store,
    confirm,
    onNotice,
    typed: typedOptions(values),
    ...optional("workspace", workspace),
    ...optional("agent", values.get("agent") ?? resumed?.agent),
    ...optional("configFile", values.get("config")),
  };
  const opened = await openEngineFor(options);
  const { engine, ledger, providers } = opened;
  try {
    if (opened.isTemporary) await fillWorkspace(opened.workspace);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return {
    engine,
    ledger,
    isSimulated: (model) => providers.choose(model).kind === "simulated",
    modelNamed: (name) => modelOf(opened.config(), name),
    workspace: resolve(opened.workspace),
    resumed: resumed?.id ?? null,
    close: () => opened.close(),
  };
}

function optional<Name extends string>(
  name: Name,
  value: string | undefined,
): Partial<Record<Name, string>> {
  const filled: Partial<Record<Name, string>> = {};
  if (value !== undefined) filled[name] = value;
  return filled;
}

function typedOptions(values: CommandInput["values"]): readonly ConfigOption[] {
  const model = values.get("model");
  return model === undefined
    ? []
    : [{ name: "--model", path: ["models", "default"], value: model }];
}

/**
 * What is configured about tools holds. Where nothing is: with somebody to ask, everything and a question before
 * whatever changes something; with nobody, tools that only look, since the others would all be refused.
 */
async function readSettings(
  input: CommandInput,
  io: Io,
  whom: Whom,
): Promise<{ readonly env: Environment; readonly config: StrataConfig }> {
  const files = readConfigPlaces(input, io);
  const { config, settings, problems } = await loadConfig({ files, env: io.env });
  if (config === null) throw toConfigError(problems.filter(({ severity }) => severity === "error"));
  const isOpen = (path: string): boolean =>
    settings.some((each) => each.path === path && each.origin.kind === "default");
  const wanted: Readonly<Record<string, string>> =
    whom === "nobody"
      ? { toolset: "read-only" }
      : { toolset: "full", bash: "true", confirm: "write,execute,network" };
  const more = Object.entries(wanted).flatMap(([name, value]) =>
    isOpen(`tools.${name}`) ? [[`STRATA_TOOLS__${name.toUpperCase()}`, value] as const] : [],
  );
  return { env: { ...io.env, ...Object.fromEntries(more) }, config };
}

/** Where no place is named, simulated sessions have one of their own: what they cost is nobody's money. */
function placeOf(env: Environment, given: string | undefined, config: StrataConfig): string {
  const { value } = readStore(env, given, config.ledger.store);
  const isUsual = value === join(readConfig(env).dataDirectory.value, "ledger.db");
  const isSimulated = ![...config.providers.values()].some(isUsable);
  return isUsual && isSimulated ? join(dirname(value), "simulated.db") : value;
}

/** Where a session worked before, if that is still there. */
async function folderOf(resumed: Resumed | null): Promise<string | undefined> {
  const path = resumed?.workspacePath ?? null;
  return path !== null && resumed?.isThere === true ? path : undefined;
}
