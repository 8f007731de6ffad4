// Any client's request body → the same body with markers where the planner puts them, and the plan.
import { assert } from "../../assert.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import { planCache } from "../../cache/plan-cache.ts";
import { isObject, type Fields } from "../../message/fields.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { messageOf, StrataError } from "../../strata-error.ts";
import { createTokenCounter } from "../../tokens/token-counter.ts";
import { withUsual, type PlanSetting } from "../plan-setting.ts";
import { findProtocol } from "../protocols.ts";
import type { ForeignMarking } from "./foreign-reader.ts";
import type { ForeignRequest } from "./foreign-request.ts";
import { readRequest } from "./read-request.ts";

export interface MarkOptions extends PlanSetting {
  /** Milliseconds since 1970. `state` needs it: without the time every cache entry would look alive. */
  readonly nowMs?: number;
}

export interface MarkedRequest<Body> {
  /** A copy. */
  readonly body: Body;
  readonly plan: CachePlan;
  /** The given body as the planner sees it. */
  readonly request: ForeignRequest;
}

/** Marks a raw request of Anthropic or OpenAI for caching. Markers that are there stay and count; the given body is not changed. */
export function markRequest<Body extends object>(
  body: Body,
  options: MarkOptions = {},
): MarkedRequest<Body> {
  const { policy, counter: textCounter, state, pace } = withUsual(options);
  const of = options.protocol === undefined ? {} : { protocol: options.protocol };
  const first = readRequest(toText(body), of);
  const protocol = options.protocol ?? findProtocol(first.protocol);
  assert(protocol !== undefined, `no protocol is called ${first.protocol}`);
  const model = options.model ?? resolveModel(first.model).facts;
  const { marking } = protocol.foreign;
  const given = toFields(body);
  const open = (model.cache.markers === null ? null : marking?.open?.(given)) ?? given;
  const counter = createTokenCounter(textCounter, model.tokenizer);
  const request = readRequest(toText(open), { protocol, counter, facts: model });
  const plan = planCache({
    blocks: request.blocks,
    rules: model,
    markers: policy.markers,
    state,
    pace,
    now: timeOf(options),
    present: request.markers,
  });
  const marked = marking === undefined ? open : withPlan(open, request, { plan, model, marking });
  return { body: JSON.parse(toText(marked)), plan, request };
}

function timeOf({ state, nowMs }: MarkOptions): number {
  if (state === undefined || nowMs !== undefined) return nowMs ?? 0;
  const hint = "give `nowMs` too: cache entries live for a time";
  throw new StrataError("input-invalid", "`state` is given without the current time", hint);
}

function toText(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    const message = `the request body cannot be written as JSON: ${messageOf(error)}`;
    throw new StrataError("input-invalid", message, "give a plain object", { cause: error });
  }
}

function toFields(body: object): Fields {
  assert(isObject(body), "a body that was read is an object");
  return body;
}

interface PlanToWrite {
  readonly plan: CachePlan;
  readonly model: ModelFacts;
  readonly marking: ForeignMarking;
}

/** What the client says itself stays. */
function withPlan(
  body: Fields,
  { blocks }: ForeignRequest,
  { plan, model, marking }: PlanToWrite,
): Fields {
  const { toMarker, members } = marking.words(plan, model);
  const own = Object.fromEntries(members.map(([name, json]) => [name, JSON.parse(json)]));
  const placed = plan.markers
    .filter(({ slot }) => slot !== "present")
    // From the last on: a marker that stands alone moves the blocks after it.
    .reduceRight<unknown>((marked, { block, lifetime }) => {
      const path = blocks[block]?.path.split(".") ?? [];
      return mark(marked, path, toMarker(lifetime), marking);
    }, body);
  assert(isObject(placed), "a marked body is an object");
  return { ...own, ...placed };
}

/** A copy with the member at this place. A plain text becomes a list with one part. */
function mark(
  value: unknown,
  path: readonly string[],
  member: readonly [name: string, json: string],
  marking: Pick<ForeignMarking, "toPart" | "standsAlone">,
): unknown {
  const [key, ...rest] = path;
  if (key === undefined) {
    assert(isObject(value), "only an object carries a marker");
    return { ...value, [member[0]]: JSON.parse(member[1]) };
  }
  if (typeof value === "string") return mark([marking.toPart(value)], path, member, marking);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (marking.standsAlone === true && rest.length === 0) {
      return items.toSpliced(Number(key) + 1, 0, { [member[0]]: JSON.parse(member[1]) });
    }
    return items.with(Number(key), mark(items[Number(key)], rest, member, marking));
  }
  assert(isObject(value), `the body has no ${key}`);
  return { ...value, [key]: mark(value[key], rest, member, marking) };
}
