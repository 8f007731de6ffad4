// Handles one HTTP request: checks and routes it, applies a fault or lets a surface answer, and records it.
import { isFields } from "../../core/models/read-fields.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import type { Billing } from "../billing/bill.ts";
import type { CallLedger } from "../call-ledger.ts";
import type { Clock } from "../clock.ts";
import type { PromptCounter } from "../count-tokens.ts";
import { deliver, type Latency } from "./deliver.ts";
import type { Fault, FaultQueue, StreamFault } from "../faults.ts";
import type { Ids } from "../ids.ts";
import { isForeignOrigin, isLoopback } from "./loopback.ts";
import type { Model } from "../prompt.ts";
import { readBody } from "./read-body.ts";
import {
  matchRoute,
  type CallRecord,
  type OuterRefusal,
  type RouteMatch,
  type SimRequest,
  type SimResponse,
  type Surface,
} from "../surface.ts";

/** The state of a simulator. A reset replaces it. */
export interface World {
  readonly surfaces: readonly Surface[];
  readonly billing: Billing;
  readonly counter: PromptCounter;
  readonly ledger: CallLedger;
  readonly faults: FaultQueue;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly model: Model;
  readonly latency: Latency;
  readonly bodyBytesMax: number;
}

/** Refuses foreign hosts, foreign origins and CORS preflights; null if the request may pass. */
export function refuseStranger(request: Request): Response | null {
  const { hostname } = new URL(request.url);
  const host = request.headers.get("host")?.toLowerCase().replace(/:\d*$/, "") ?? hostname;
  if (!isLoopback(hostname) || !isLoopback(host)) {
    return plainRefusal(403, `the simulator answers to loopback names only, not to ${host}`);
  }
  const origin = request.headers.get("origin");
  if (origin !== null && isForeignOrigin(origin)) {
    return plainRefusal(403, `the simulator does not answer pages of ${origin}`);
  }
  return request.method === "OPTIONS"
    ? plainRefusal(405, "the simulator grants no cross-origin requests")
    : null;
}

/** Answers a provider's client. Every request gets an answer and an entry in the ledger. */
export async function answerRequest(request: Request, world: World): Promise<Response> {
  const { clock, ledger, latency, ids } = world;
  const { pathname, searchParams, host } = new URL(request.url);
  // A signature covers the host, which a request without a socket has in its URL only.
  const headers = new Map([["host", host], ...request.headers]);
  const change = ledger.open({
    startMs: clock.now(),
    method: request.method,
    path: pathname,
    surface: null,
    workspace: null,
    status: 0,
    outcome: "under way",
    fault: null,
    refusal: null,
    problem: null,
    billed: null,
  });
  const addressed = world.surfaces.filter(({ isClient }) => isClient(headers, pathname));
  const target = findRoute(request.method, pathname, [...addressed, ...world.surfaces]);
  const surface = target?.surface ?? addressed[0] ?? world.surfaces[0];
  const refuse = (status: OuterRefusal["status"], message: string): SimResponse =>
    surface?.refuse({ status, message }, ids) ?? { status, headers: {}, body: "" };
  change({ surface: target?.surface.name ?? null });

  const respond = async (): Promise<Answer> => {
    const { method } = request;
    if (target === null) return { response: refuse(404, `Not found: ${method} ${pathname}`) };
    const body = await readBody(request, world.bodyBytesMax);
    if (body === null) return { response: refuse(413, "Request exceeds the maximum size") };
    const { params } = target;
    const asked = { method, path: pathname, params, query: searchParams, headers, bodyText: body };
    return askSurface(asked, target, world, change);
  };
  let answer: Answer;
  try {
    answer = await respond();
  } catch (error) {
    // A script did not match, the user's model threw, or we have a bug.
    const problem = describeProblem(error);
    change({ problem });
    answer = { response: refuse(500, problem) };
  }
  change({ status: answer.response.status, refusal: refusalIn(answer.response) });
  return deliver(answer.response, {
    fault: answer.fault ?? null,
    errorEvent: answer.errorEvent ?? null,
    clock,
    latency,
    signal: request.signal,
    onEnd: (outcome, problem) =>
      change({ outcome, ...(problem === undefined ? {} : { problem: describeProblem(problem) }) }),
  });
}

interface Answer {
  readonly response: SimResponse;
  readonly fault?: StreamFault;
  readonly errorEvent?: string | Uint8Array | null;
}

interface Target extends RouteMatch {
  readonly surface: Surface;
}

function findRoute(method: string, path: string, surfaces: readonly Surface[]): Target | null {
  for (const surface of surfaces) {
    const match = matchRoute(surface.routes, method, path);
    if (match !== null) return { surface, ...match };
  }
  return null;
}

function askSurface(
  request: SimRequest,
  { surface, route }: Target,
  world: World,
  change: ReturnType<CallLedger["open"]>,
): Answer {
  const { clock, billing, counter, model, ids } = world;
  const client = surface.authenticate(request, { newId: ids.newId, nowMs: clock.now() });
  if ("refusal" in client) return { response: client.refusal };
  const workspace = ids.workspaceOf(client.key);
  change({ workspace });
  const fault = request.method === "POST" ? world.faults.next(request.path) : null;
  if (fault !== null) change({ fault: fault.kind });
  if (fault !== null && !isStreamFault(fault)) {
    const place = { newId: ids.newId, nowMs: clock.now(), workspace, path: request.path };
    return { response: surface.fault(fault, place) };
  }
  const record = (billed: CallRecord): void => change({ billed });
  const response = route.handle(request, {
    nowMs: clock.now(),
    workspace,
    newId: ids.newId,
    billing,
    counter,
    answer: model,
    record,
    faultAt: (host) => {
      const found = world.faults.next(request.path, host);
      if (found === null || isStreamFault(found)) return null;
      change({ fault: `${found.kind} at ${host}` });
      return found;
    },
  });
  if (fault === null) return { response };
  const place = { newId: ids.newId, nowMs: clock.now(), workspace, path: request.path };
  const errorEvent = fault.kind === "error event" ? (surface.errorEvent?.(place) ?? null) : null;
  return { response, fault, errorEvent };
}

function isStreamFault(fault: Fault): fault is StreamFault {
  return fault.kind === "slow first byte" || "afterEvents" in fault;
}

/** Providers put the text in `error.message`, or in `message`. */
function refusalIn({ status, body }: SimResponse): string | null {
  if (status < 400 || typeof body !== "string") return null;
  try {
    const parsed: unknown = JSON.parse(body);
    const error = isFields(parsed) ? parsed["error"] : null;
    const holder = isFields(error) ? error : parsed;
    const message = isFields(holder) ? holder["message"] : null;
    return typeof message === "string" ? shorten(message) : null;
  } catch {
    return null;
  }
}

/** The ledger keeps many calls, and a message can quote a whole body. */
function shorten(message: string): string {
  return message.length <= 500 ? message : `${message.slice(0, 500)}…`;
}

function describeProblem(error: unknown): string {
  if (error instanceof StrataError) return `${error.message}; ${error.hint}`;
  return messageOf(error);
}

function plainRefusal(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status });
}
