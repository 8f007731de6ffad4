// A provider which bills like the real ones: requests in, responses out, and a record of every bill.
import { createAnthropicSurface } from "./anthropic/index.ts";
import { createBedrockSurface } from "./bedrock/index.ts";
import type { AwsKey } from "./bedrock/sigv4.ts";
import { createGeminiSurface } from "./gemini/index.ts";
import { createOpenaiSurface } from "./openai/index.ts";
import { createVertexSurface } from "./vertex/index.ts";
import { answerControl, controlPrefix } from "./server/control-routes.ts";
import { answerRequest, refuseStranger, type World } from "./server/answer-request.ts";
import { createEcho } from "./behaviours/echo.ts";
import type { Billing } from "./billing/bill.ts";
import { createBilling } from "./billing/billing.ts";
import type { BillingOptions } from "./billing/options.ts";
import { createCallLedger, type Call } from "./call-ledger.ts";
import { createRealClock, createVirtualClock, type Clock } from "./clock.ts";
import { createPromptCounter } from "./count-tokens.ts";
import type { Latency } from "./server/deliver.ts";
import { createFaultQueue } from "./faults.ts";
import { createIds } from "./ids.ts";
import {
  createOpenrouterSurface,
  usualRouting,
  type OpenrouterOptions,
} from "./openrouter/index.ts";
import type { Model } from "./prompt.ts";
import { openNodeServer, type ListenOptions, type OpenServer } from "./server/node-server.ts";
import { parseFaultRules, type FaultSpec } from "./parse-faults.ts";
import type { Surface } from "./surface.ts";
import { vendorSurfaces, type LocalServer } from "./vendors/index.ts";

export interface SimulatorOptions {
  /** The simulated model. Default: echo. */
  readonly model?: Model;
  /** The same seed and requests give the same bytes. Without a seed, ids and workspaces are random. */
  readonly seed?: number;
  /** A clock of one's own is moved by its owner. */
  readonly clock?: "real" | "virtual" | { readonly virtualStartMs: number } | Clock;
  /** Options for points that providers leave open; see docs/simulator.md. */
  readonly billing?: Partial<BillingOptions>;
  /** Whether the control routes `/_sim/…` are on. */
  readonly control?: boolean;
  /** Faults queued from the start. */
  readonly faults?: readonly FaultSpec[];
  /** How long a reply takes on the simulator's clock. Default: no time. */
  readonly latency?: Partial<Latency>;
  /** How fast the simulated servers of one's own are (llama.cpp, vLLM, Ollama, LM Studio); see docs/simulator.md. */
  readonly local?: Partial<LocalServer>;
  /** How often OpenRouter's hosts change, and the credit of a key; see docs/simulator.md. */
  readonly openrouter?: Partial<OpenrouterOptions>;
  readonly bodyBytesMax?: number;
  /** The AWS keys that may sign. Default: the pair that AWS prints in its documents. */
  readonly awsKeys?: readonly AwsKey[];
  /** How many calls the ledger keeps. Default: 10,000. */
  readonly callsMax?: number;
  /** Called after every call. */
  readonly onCall?: (call: Call) => void;
}

export interface Simulator {
  /** Answers a request without a socket; pass it to an SDK as `fetch`. */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  /** Serves the same on a loopback port. */
  listen(options?: ListenOptions): Promise<OpenServer>;
  readonly clock: Clock;
  readonly billing: Billing;
  /** The recorded requests, oldest first. */
  calls(): readonly Call[];
  /** Makes the next requests fail. */
  fault(...faults: readonly FaultSpec[]): void;
  /** Clears entries, calls, faults and the model's state. The clock continues, and ids never repeat. */
  reset(): void;
}

const bodyBytesMax = 32 * 1024 * 1024;

/** A simulator of every provider it knows. */
export function createSimulator(options: SimulatorOptions = {}): Simulator {
  const clock = createClock(options.clock ?? "real");
  // A client signs by the time of its machine, which a virtual clock does not follow.
  const bedrock = {
    checksDates: clock.kind === "real",
    ...(options.awsKeys === undefined ? {} : { keys: options.awsKeys }),
  };
  const local = { ...usualServer, ...options.local };
  const vendors = vendorSurfaces.map((createSurface) => () => createSurface(local));
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
  const routing = { seed, ...usualRouting, ...options.openrouter };
  return createSimulatorOf(
    [
      ...vendors,
      () => createOpenrouterSurface(routing),
      createAnthropicSurface,
      createGeminiSurface,
      () => createBedrockSurface(bedrock),
      createVertexSurface,
      // Last: it takes every client that does not name itself.
      createOpenaiSurface,
    ],
    { ...options, clock },
  );
}

/** About what one consumer's graphics card does with a small model. */
const usualServer: LocalServer = {
  prefillTokensPerSecond: 1000,
  outputTokensPerSecond: 50,
  waits: false,
  promptTokensDetails: false,
};

/** A simulator of only these providers. */
export function createSimulatorOf(
  createSurfaces: readonly (() => Surface)[],
  options: SimulatorOptions = {},
): Simulator {
  const clock = createClock(options.clock ?? "real");
  const ids = createIds(options.seed);
  const model = options.model ?? createEcho();
  const faults = parseFaultRules(options.faults ?? []);
  const counter = createPromptCounter();
  const createWorld = (isFirst: boolean): World => ({
    surfaces: createSurfaces.map((createSurface) => createSurface()),
    billing: createBilling(options.billing),
    counter,
    ledger: createCallLedger(options.callsMax ?? 10_000, options.onCall ?? (() => {})),
    faults: createFaultQueue(isFirst ? faults : []),
    ids,
    clock,
    model,
    latency: { firstByteMs: 0, perEventMs: 0, ...options.latency },
    bodyBytesMax: options.bodyBytesMax ?? bodyBytesMax,
  });
  let world = createWorld(true);
  const reset = (): void => {
    model.reset?.();
    world = createWorld(false);
  };

  const answer = (request: Request): Promise<Response> => {
    const refused = refuseStranger(request);
    if (refused !== null) return Promise.resolve(refused);
    const isControl = new URL(request.url).pathname.startsWith(controlPrefix);
    return isControl && options.control === true
      ? answerControl(request, { world: () => world, reset })
      : answerRequest(request, world);
  };
  return {
    fetch: (input, init) =>
      answer(input instanceof Request && init === undefined ? input : new Request(input, init)),
    listen: (where) => openNodeServer(answer, where),
    clock,
    get billing() {
      return world.billing;
    },
    calls: () => world.ledger.list(),
    fault: (...more) => world.faults.add(parseFaultRules(more)),
    reset,
  };
}

function createClock(choice: NonNullable<SimulatorOptions["clock"]>): Clock {
  if (choice === "real") return createRealClock();
  if (typeof choice === "object" && "now" in choice) return choice;
  return createVirtualClock(choice === "virtual" ? undefined : choice.virtualStartMs);
}
