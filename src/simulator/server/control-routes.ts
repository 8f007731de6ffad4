// HTTP routes for tests to control the simulator: clock, faults, state. Off by default.
import * as read from "../../core/models/read-fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { World } from "./answer-request.ts";
import type { Clock } from "../clock.ts";
import { toCallView } from "../call-ledger.ts";
import { parseFaultRules } from "../parse-faults.ts";
import { readBody } from "./read-body.ts";

export const controlPrefix = "/_sim/";

export interface Controlled {
  readonly world: () => World;
  readonly reset: () => void;
}

export async function answerControl(request: Request, controlled: Controlled): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const name = `${request.method} ${pathname}`;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const known = Object.keys(actions).join(", ");
    return refusal(404, `there is no control route ${name}; there are: ${known}`);
  }
  try {
    const body = request.method === "POST" ? await readJson(request) : null;
    return Response.json(await action(controlled, body, searchParams));
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    const status = error instanceof ClockConflict ? 409 : 400;
    return refusal(status, `${error.message}; ${error.hint}`);
  }
}

type Action = (controlled: Controlled, body: unknown, query: URLSearchParams) => unknown;

const actions: Readonly<Record<string, Action>> = {
  "GET /_sim/state": ({ world }) => describeState(world()),
  "GET /_sim/ledger": ({ world }, _body, query) => describeLedger(world(), query),
  "POST /_sim/clock": async ({ world }, body) => {
    await moveClock(world().clock, body);
    return describeClock(world().clock);
  },
  "GET /_sim/faults": ({ world }) => ({ faults: world().faults.list() }),
  "POST /_sim/faults": ({ world }, body) => {
    const { faults } = world();
    if (read.isFields(body) && body["clear"] === true) faults.clear();
    else faults.add(parseFaultRules(body));
    return { faults: faults.list() };
  },
  "POST /_sim/reset": ({ world, reset }) => {
    reset();
    return describeState(world());
  },
};

function describeState({ clock, billing, ledger, faults }: World): unknown {
  const now = clock.now();
  return {
    clock: describeClock(clock),
    entries: billing
      .entries(now)
      .map((entry) => ({ ...entry, expiresInMs: entry.expiresMs - now })),
    stored: billing.stored.views(now),
    faults: faults.list(),
    calls: ledger.list().length + ledger.dropped,
  };
}

function describeLedger({ ledger, billing, clock }: World, query: URLSearchParams): unknown {
  const after = Number(query.get("after") ?? 0);
  if (!Number.isFinite(after)) {
    throw new StrataError("input-invalid", "after is not a number", "give the number of a call");
  }
  const calls = ledger.list().filter(({ number }) => number > after);
  const stored = billing.stored.views(clock.now());
  return { calls: calls.map(toCallView), dropped: ledger.dropped, stored };
}

function describeClock(clock: Clock): { kind: Clock["kind"]; nowMs: number; now: string } {
  const nowMs = clock.now();
  return { kind: clock.kind, nowMs, now: new Date(nowMs).toISOString() };
}

/** The request is valid, but the clock cannot do it. */
class ClockConflict extends StrataError {}

async function moveClock(clock: Clock, body: unknown): Promise<void> {
  const { advanceMs, setMs } = read.fields(body, "the body", ["advanceMs", "setMs"]);
  if ((advanceMs === undefined) === (setMs === undefined)) {
    throw new StrataError(
      "input-invalid",
      "the clock needs one of advanceMs and setMs",
      'send {"advanceMs": 60000}',
    );
  }
  const isBackwards = typeof advanceMs === "number" && advanceMs < 0;
  const ms = isBackwards ? advanceMs : read.multiplier(advanceMs ?? setMs, "milliseconds");
  try {
    await (advanceMs === undefined ? clock.set(ms) : clock.advance(ms));
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    throw new ClockConflict(error.code, error.message, error.hint, { cause: error });
  }
}

/** Control requests are short; a longer body is a mistake. */
const commandBytesMax = 1_000_000;

async function readJson(request: Request): Promise<unknown> {
  const text = await readBody(request, commandBytesMax);
  if (text === null) {
    throw new StrataError("input-invalid", "the body is too long", "send less than 1 MB");
  }
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StrataError(
      "input-invalid",
      `the body is not JSON: ${error instanceof Error ? error.message : ""}`,
      "send one JSON value",
      { cause: error },
    );
  }
}

function refusal(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}
