// strata smoke: two turns with a real provider, or with the simulator where there is no key.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigOption } from "../../core/config/read-config.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { StrataError } from "../../core/strata-error.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import type { EngineSession } from "../../engine/session/engine-session.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { openHost, type Host } from "../../host/open-host.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import {
  checkSmoke,
  controlIsAffordable,
  costPicoUsdMax,
  costText,
  expectedCost,
  outputTokensMax,
  toSmokeTurn,
  type SmokeCheck,
  type SmokeTurn,
} from "./smoke-checks.ts";
import { formatNumber } from "../../replay/format-figures.ts";
import { renderTable } from "../table.ts";
import { smokeLifetimes } from "./lifetimes.ts";

export const run: CommandBody = async (input, io) => {
  if (input.switches.has("lifetimes")) return smokeLifetimes({ input, io, model: modelOf(input) });
  refuseTrialOptions(input);
  const ledger = await openLedger(":memory:");
  const workspace = await mkdtemp(join(tmpdir(), "strata-smoke-"));
  const open = (more: readonly ConfigOption[], onNotice: (text: string) => void): Promise<Host> =>
    openHost({
      env: io.env,
      workspace,
      ledger,
      model: modelOf(input),
      callOptions: { outputTokensMax },
      typed: [...typedOptions(input), ...more],
      onNotice,
      ...configOf(input),
    });
  try {
    const notices = holdNotices(io);
    const host = await open([], notices.tell);
    notices.release();
    const cached = await pass(host, modelOf(input));
    const { model, turns, prefixTokens } = cached;
    const mayControl = controlIsAffordable(turns, prefixTokens, model);
    // The same turns once more without markers, to compare with.
    const control = mayControl
      ? await pass(await open([unmarked], () => {}), modelOf(input))
      : null;
    return report(cached, control?.turns ?? null, input.switches.has("json"), io);
  } finally {
    await ledger.close();
    await rm(workspace, { recursive: true, force: true });
  }
};

/** Keeps notices until everything is open: an error that ends the command says more than they do. */
function holdNotices({ error }: Io): {
  readonly tell: (text: string) => void;
  readonly release: () => void;
} {
  let held: string[] | null = [];
  const print = (text: string): void => error(`${text}\n`);
  return {
    tell: (text) => (held === null ? print(text) : void held.push(text)),
    release: () => {
      held?.forEach(print);
      held = null;
    },
  };
}

/** Throws on options that only the trial of lifetimes takes. */
function refuseTrialOptions({ switches, values }: CommandInput): void {
  const hint = "leave it out, or add --lifetimes";
  if (switches.has("yes")) {
    const problem = "--yes is for --lifetimes, and two turns are sent without a question";
    throw new StrataError("usage", problem, hint);
  }
  if (values.has("store")) {
    throw new StrataError(
      "usage",
      "--store is for --lifetimes, and two turns are not stored",
      hint,
    );
  }
}

const unmarked: ConfigOption = { name: "smoke", path: ["policies", "default"], value: "none" };

/** Without tools, because only the cache is checked. Always padded, because providers do not cache a short prefix. */
function typedOptions(input: CommandInput): readonly ConfigOption[] {
  return [
    { name: "--model", path: ["models", "default"], value: modelOf(input) },
    { name: "smoke", path: ["policies", "layout", "padding"], value: "always" },
    { name: "smoke", path: ["tools", "toolset"], value: "none" },
  ];
}

function modelOf({ values }: CommandInput): string {
  return values.get("model") ?? "haiku";
}

function configOf({ values }: CommandInput): { readonly configFile?: string } {
  const configFile = values.get("config");
  return configFile === undefined ? {} : { configFile };
}

const questions = [
  "In one sentence: what makes a prompt cache hit?",
  "And in one sentence: what makes it miss?",
];

interface Pass {
  readonly model: ModelFacts;
  readonly isSimulated: boolean;
  /** What every call sends first. */
  readonly prefixTokens: number;
  readonly turns: readonly SmokeTurn[];
}

/** Two turns in a session of their own. Closes the host. */
async function pass(opened: Host, name: string): Promise<Pass> {
  try {
    const session = await opened.engine.open({ model: name });
    const { model, thread } = session.session;
    const { isSimulated } = opened;
    const prefixTokens = thread.end.tokens;
    refuseDear(session);
    const turns: SmokeTurn[] = [];
    for (const question of questions) {
      const { calls } = await session.run(question).result;
      const turn = toSmokeTurn(calls);
      turns.push(turn);
      if (turn.failure !== null || (turn.costPicoUsd ?? 0n) > costPicoUsdMax) break;
    }
    return { model, isSimulated, prefixTokens, turns };
  } finally {
    await opened.close();
  }
}

function report(
  { model, isSimulated, turns }: Pass,
  control: readonly SmokeTurn[] | null,
  isJson: boolean,
  io: Io,
): number {
  const checks = checkSmoke(turns, control, model);
  const isOk = checks.every((check) => check.isOk);
  const about = { model: model.id, provider: model.provider, isSimulated, isOk };
  const result = { ...about, turns, control, checks };
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
  readonly control: readonly SmokeTurn[] | null;
  readonly checks: readonly SmokeCheck[];
}

const noControl = `        not compared with turns without markers: the provider caches by itself, the two turns failed, or all four would cost more than ${formatUsdRounded(costPicoUsdMax, 2)}\n`;

function render({ model, isSimulated, turns, control, checks }: Result): string {
  const rows = [turns, control ?? []].flatMap((each, at) =>
    each.map((turn, index) => ({ ...turn, name: `${index + 1}${at === 0 ? "" : ", no cache"}` })),
  );
  const table = renderTable(
    [
      { title: "turn", cell: ({ name }) => name },
      { title: "prompt", align: "right", cell: (turn) => formatNumber(turn.promptTokens) },
      { title: "written", align: "right", cell: (turn) => formatNumber(turn.writtenTokens) },
      { title: "read", align: "right", cell: (turn) => formatNumber(turn.readTokens) },
      { title: "uncached", align: "right", cell: (turn) => formatNumber(turn.uncachedTokens) },
      { title: "made", align: "right", cell: (turn) => formatNumber(turn.outputTokens) },
      { title: "cost", align: "right", cell: ({ costPicoUsd }) => costText(costPicoUsd) },
    ],
    rows,
  );
  const lines = checks.map(
    ({ name, isOk, detail }) => `${isOk ? "ok    " : "failed"}  ${name}: ${toPrintable(detail)}\n`,
  );
  const simulated = isSimulated ? ", simulated: the dollars are made up, the rules are not" : "";
  const left = control === null ? noControl : "";
  return `${model}${simulated}\n${table}${lines.join("")}${left}`;
}
