// Parses faults from a control route or a test.
import * as read from "../core/models/read-fields.ts";
import type { Fields } from "../core/models/read-fields.ts";
import { StrataError } from "../core/strata-error.ts";
import type { Fault, FaultRule } from "./faults.ts";

const ruleFields = ["kind", "count", "probability", "seed", "path", "host"];
const fieldsOf: Readonly<Record<Fault["kind"], readonly string[]>> = {
  "rate limited": ["retryAfterSeconds"],
  "server error": [],
  overloaded: [],
  "model timeout": [],
  "model error": [],
  overflow: ["tokens", "tokensMax"],
  "slow first byte": ["delayMs"],
  stall: ["afterEvents"],
  cut: ["afterEvents"],
  malformed: ["afterEvents"],
  corrupt: ["afterEvents"],
  "error event": ["afterEvents"],
};
const simpleKinds: readonly Fault["kind"][] = [
  "rate limited",
  "server error",
  "overloaded",
  "model timeout",
  "model error",
  "overflow",
  "slow first byte",
  "stall",
  "cut",
  "malformed",
  "corrupt",
  "error event",
];
/** Default faults of a random rule. */
const usualFaults: readonly Fault[] = [
  { kind: "rate limited", retryAfterSeconds: null },
  { kind: "server error" },
  { kind: "overloaded" },
];

/** A fault as the user writes it. Every missing field has a default. */
export interface FaultSpec {
  readonly kind: Fault["kind"] | "random";
  /** How many requests it hits. Default: 1; for `random`, all until it is cleared. */
  readonly count?: number | null;
  /** How likely it hits a request, from 0 to 1. */
  readonly probability?: number;
  readonly seed?: number;
  /** Only requests to this path. */
  readonly path?: string;
  /** Only at this host of a router, which then asks another one. For failures of the whole answer. */
  readonly host?: string;
  /** For `rate limited`. */
  readonly retryAfterSeconds?: number | null;
  /** For `overflow`. */
  readonly tokens?: number;
  readonly tokensMax?: number;
  /** For `slow first byte`. */
  readonly delayMs?: number;
  /** For `stall`, `cut`, `malformed`, `corrupt` and `error event`: how many events are sent intact. */
  readonly afterEvents?: number;
  /** For `random`: the faults to choose from. */
  readonly of?: readonly Omit<
    FaultSpec,
    "count" | "probability" | "seed" | "path" | "host" | "of"
  >[];
}

export function parseFaultRules(value: unknown): readonly FaultRule[] {
  return Array.isArray(value)
    ? read.list(value, "faults", parseFaultRule)
    : [parseFaultRule(value, "fault")];
}

function parseFaultRule(value: unknown, place: string): FaultRule {
  const isRandom = read.isFields(value) && value["kind"] === "random";
  const fields = isRandom
    ? read.fields(value, place, [...ruleFields, "of"])
    : readFaultFields(value, place, ruleFields);
  const faults = isRandom ? readChoices(fields["of"], `${place}.of`) : [readFault(fields, place)];
  const host = read.optional(fields["host"], `${place}.host`, read.text);
  const broken = host === null ? undefined : faults.find((fault) => breaksStream(fault));
  if (broken !== undefined) {
    throw new StrataError(
      "input-invalid",
      `${place}.host: "${broken.kind}" breaks an answer, and a host that fails gives none`,
      "leave host out, or choose rate limited, server error, overloaded or overflow",
    );
  }
  return {
    faults,
    ...(host === null ? {} : { host }),
    // A queued fault hits once; a random one stays until it is cleared.
    count:
      fields["count"] === undefined && !isRandom
        ? 1
        : read.optional(fields["count"], `${place}.count`, read.count),
    probability: read.optional(fields["probability"], `${place}.probability`, readProbability) ?? 1,
    seed: read.optional(fields["seed"], `${place}.seed`, read.multiplier) ?? 0,
    path: read.optional(fields["path"], `${place}.path`, read.text),
  };
}

function breaksStream({ kind }: Fault): boolean {
  return kind === "slow first byte" || fieldsOf[kind].includes("afterEvents");
}

function readChoices(value: unknown, place: string): readonly Fault[] {
  const choices = read.optional(value, place, (list) =>
    read.list(list, place, (item, at) => readFault(readFaultFields(item, at, ["kind"]), at)),
  );
  if (choices === null) return usualFaults;
  if (choices.length > 0) return choices;
  throw new StrataError("input-invalid", `${place} is empty`, "name at least one fault");
}

function readFaultFields(value: unknown, place: string, shared: readonly string[]): Fields {
  const kind = read.oneOf(
    read.isFields(value) ? value["kind"] : value,
    [...simpleKinds, ...(shared.includes("count") ? ["random"] : [])],
    `${place}.kind`,
  );
  const own = simpleKinds.find((each) => each === kind);
  return read.fields(value, place, [...shared, ...(own === undefined ? [] : fieldsOf[own])]);
}

function readFault(fields: Fields, place: string): Fault {
  const kind = read.oneOf(fields["kind"], simpleKinds, `${place}.kind`);
  const number = (name: string): number | null =>
    read.optional(fields[name], `${place}.${name}`, read.multiplier);
  switch (kind) {
    case "rate limited":
      return { kind, retryAfterSeconds: number("retryAfterSeconds") };
    case "server error":
    case "overloaded":
    case "model timeout":
    case "model error":
      return { kind };
    case "overflow": {
      const tokensMax = number("tokensMax") ?? 200_000;
      return { kind, tokensMax, tokens: number("tokens") ?? tokensMax + 13_462 };
    }
    case "slow first byte":
      return { kind, delayMs: number("delayMs") ?? 5_000 };
    case "stall":
    case "cut":
    case "malformed":
    case "corrupt":
    case "error event":
      return { kind, afterEvents: number("afterEvents") ?? 2 };
  }
}

function readProbability(value: unknown, place: string): number {
  const probability = read.multiplier(value, place);
  if (probability <= 1) return probability;
  throw new StrataError(
    "input-invalid",
    `${place} is ${probability}, but must be from 0 to 1`,
    `set ${place} to a number from 0 to 1`,
  );
}
