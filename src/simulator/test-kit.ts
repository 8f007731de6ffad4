// For tests: one surface with real billing and counting, a scripted model and a stopped clock.
import type { Billing } from "./billing/bill.ts";
import { createBilling } from "./billing/billing.ts";
import { createPromptCounter, type PromptCounter } from "./count-tokens.ts";
import type { Prompt, Reply } from "./prompt.ts";
import {
  matchRoute,
  type CallRecord,
  type SimRequest,
  type SimResponse,
  type Surface,
} from "./surface.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- replies are asserted field by field
export type Any = any;

export interface SurfaceKit {
  readonly surface: Surface;
  readonly records: CallRecord[];
  readonly prompts: Prompt[];
  readonly counter: PromptCounter;
  readonly billing: Billing;
  nowMs: number;
  workspace: string;
  answer: (prompt: Prompt) => Reply;
  /** Sends a request and leaves the reply unread, so its writes are not readable yet. */
  handle(request: Partial<SimRequest>): SimResponse;
}

/** Shared by all tests of a file, because the first counts are slow and counts never change. */
const counter = createPromptCounter();

export const startMs: number = Date.UTC(2026, 10, 15, 12);

export function createSurfaceKit(surface: Surface, answer: SurfaceKit["answer"]): SurfaceKit {
  const billing = createBilling();
  let ids = 0;
  const kit: SurfaceKit = {
    surface,
    records: [],
    prompts: [],
    counter,
    billing,
    nowMs: startMs,
    workspace: "workspace",
    answer,
    handle: ({ method = "POST", path = "", bodyText = "", query, headers }) => {
      const match = matchRoute(surface.routes, method, path);
      if (match === null) throw new Error(`no route ${method} ${path}`);
      const { route, params } = match;
      const sent = { query: query ?? new URLSearchParams(), headers: headers ?? new Map() };
      return route.handle(
        { method, path, params, bodyText, ...sent },
        {
          nowMs: kit.nowMs,
          workspace: kit.workspace,
          newId: (prefix) => `${prefix}${(ids += 1)}`,
          billing,
          counter,
          answer: (prompt) => {
            kit.prompts.push(prompt);
            return kit.answer(prompt);
          },
          record: (entry) => void kit.records.push(entry),
          faultAt: () => null,
        },
      );
    },
  };
  return kit;
}

/** The JSON of a response that is no stream. */
export function jsonOf({ body }: SimResponse): Any {
  if (typeof body !== "string") throw new Error("this response is a stream");
  return JSON.parse(body);
}

export function readToEnd({ bill, body }: SimResponse, nowMs: number): string {
  bill?.begin();
  const text = typeof body === "string" ? body : [...body].join("");
  bill?.end(nowMs);
  return text;
}
