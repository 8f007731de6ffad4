// strata smoke: two turns with a real provider, or with the simulator where there is no key.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInCatalogue } from "../../core/models/catalogue.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { StrataError } from "../../core/strata-error.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import type { EngineSession } from "../../engine/session/engine-session.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { openHost, type Host } from "../../host/open-host.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import {
  checkSmoke,
  costPicoUsdMax,
  expectedCost,
  outputTokensMax,
  toSmokeTurn,
  type SmokeCheck,
  type SmokeTurn,
} from "./smoke-checks.ts";
import { renderTable } from "../table.ts";

export const run: CommandBody = async (input, io) => {
  const isJson = input.switches.has("json");
  const ledger = await openLedger(":memory:");
  const workspace = await mkdtemp(join(tmpdir(), "strata-smoke-"));
  try {
    const opened = await openHost({
      env: io.env,
      workspace,
      ledger,
      model: modelOf(input),
      callOptions: { outputTokensMax },
      typed: typedOptions(input),
      onNotice: (text) => io.error(`${text}\n`),
      ...configOf(input),
    });
    try {
      return await smoke(opened, modelOf(input), isJson, io);
    } finally {
      await opened.close();
    }
  } finally {
    await ledger.close();
    await rm(workspace, { recursive: true, force: true });
  }
};

/** Without tools, because only the cache is checked. Always padded, because providers do not cache a short prefix. */
function typedOptions(input: CommandInput): readonly {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: string;
}[] {
  return [
    { name: "--model", path: ["models", "default"], value: modelOf(input) },
    { name: "smoke", path: ["policies", "layout", "padding"], value: "always" },
    { name: "smoke", path: ["tools", "toolset"], value: "none" },
  ];
}

function modelOf({ values }: CommandInput): string {
  return modelNamed(values.get("model") ?? "haiku");
}

function configOf({ values }: CommandInput): { readonly configFile?: string } {
  const configFile = values.get("config");
  return configFile === undefined ? {} : { configFile };
}

const families: readonly string[] = ["haiku", "sonnet", "opus"];

/** The newest active model of a family; any other name unchanged. */
export function modelNamed(name: string): string {
  if (!families.includes(name)) return name;
  const ids = builtInCatalogue.ids.filter(
    (id) =>
      id.split("-").includes(name) && builtInCatalogue.factsOf(id).lifecycle.status === "active",
  );
  const newest = ids.toSorted((left, right) => versionOf(right) - versionOf(left))[0];
  if (newest !== undefined) return newest;
  throw new StrataError("model-unknown", `no model of ${name} is in service`, "name one by its id");
}

function versionOf(id: string): number {
  const [major = 0, minor = 0] = id.split("-").map(Number).filter(Number.isInteger);
  return major * 1000 + minor;
}

const questions = [
  "In one sentence: what makes a prompt cache hit?",
  "And in one sentence: what makes it miss?",
];

async function smoke(opened: Host, name: string, isJson: boolean, io: Io): Promise<number> {
  const session = await opened.engine.open({ model: name });
  const { model } = session.session;
  const { isSimulated } = opened;
  refuseDear(session);
  const turns: SmokeTurn[] = [];
  for (const question of questions) {
    const { calls } = await session.run(question).result;
    const turn = toSmokeTurn(calls);
    turns.push(turn);
    if (turn.failure !== null || turn.costPicoUsd > costPicoUsdMax) break;
  }
  const checks = checkSmoke(turns, model);
  const isOk = checks.every((check) => check.isOk);
  const result = { model: model.id, provider: model.provider, isSimulated, isOk, turns, checks };
  io.out(isJson ? toJsonLine(result) : render(result));
  return isOk ? 0 : 1;
}

/** Throws before anything is spent. */
function refuseDear({ session }: EngineSession): void {
  const { model, thread } = session;
  const cost = expectedCost(thread.end.tokens, model, Date.now());
  if (cost !== null && cost <= costPicoUsdMax) return;
  throw new StrataError(
    "usage",
    cost === null
      ? `the cost of two turns with ${model.id} is not known`
      : `two turns with ${model.id} would cost about ${formatUsdRounded(cost, 2)}, more than ${formatUsdRounded(costPicoUsdMax, 2)}`,
    "choose a cheaper model with --model",
  );
}

interface Result {
  readonly model: string;
  readonly isSimulated: boolean;
  readonly turns: readonly SmokeTurn[];
  readonly checks: readonly SmokeCheck[];
}

function render({ model, isSimulated, turns, checks }: Result): string {
  const table = renderTable(
    [
      { title: "turn", align: "right", cell: ({ number }) => String(number) },
      { title: "prompt", align: "right", cell: (turn) => String(turn.promptTokens) },
      { title: "written", align: "right", cell: (turn) => String(turn.writtenTokens) },
      { title: "read", align: "right", cell: (turn) => String(turn.readTokens) },
      { title: "uncached", align: "right", cell: (turn) => String(turn.uncachedTokens) },
      { title: "made", align: "right", cell: (turn) => String(turn.outputTokens) },
      { title: "cost", align: "right", cell: (turn) => formatUsdRounded(turn.costPicoUsd, 6) },
    ],
    turns.map((turn, index) => ({ ...turn, number: index + 1 })),
  );
  const lines = checks.map(
    ({ name, isOk, detail }) => `${isOk ? "ok    " : "failed"}  ${name}: ${toPrintable(detail)}\n`,
  );
  const simulated = isSimulated ? ", simulated: the dollars are made up, the rules are not" : "";
  return `${model}${simulated}\n${table}${lines.join("")}`;
}
