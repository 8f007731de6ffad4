// Which sums are stored: facts, told apart by what questions group them by. A question reads one of them, or raw rows.
import { hashContent } from "../../../core/hash.ts";
import { lifetimes } from "../../../core/message/usage.ts";
import type { Shape } from "./cells.ts";
import { callFacts } from "./call-facts.ts";
import type { Fact } from "./fact.ts";
import { jsonFacts } from "./json-facts.ts";
import { grains } from "./grains.ts";
import { isWarmSql, storedBandsHash } from "./price-bands.ts";
import { turnFacts } from "./turn-facts.ts";

export interface Cube extends Shape {
  readonly name: string;
  readonly fact: Fact;
}

/** What calls are grouped by. Sums of days and hours are those of `none`, by bucket. */
const callGroups = [
  "none",
  "model",
  "provider",
  "session",
  "agent",
  "parent_session",
  "is_worker",
  "gateway_key",
  "user",
  "team",
] as const;

const tokenColumns = ["call_count", "uncached", "read_tokens", "output", "cost_0", "cost_1"];

const spendColumns = tokenColumns.concat(
  ["turn_count", "written", "failed_0", "failed_1", "unpriced"],
  ["first_ms", "last_ms"],
);

const priceColumns = tokenColumns.concat(lifetimes.map((lifetime) => `written_${lifetime}`));

const { calls, retried, prefixes, endings } = callFacts;
const { turns, toolUses, compactions } = turnFacts;

export const cubes: readonly Cube[] = [
  ...callGroups.flatMap((group) => [
    toCube(calls, [group, "is_warm"], spendColumns),
    toCube(calls, [group, "model", "alike"], priceColumns),
    toCube(retried, [group, "model", "alike"], priceColumns),
  ]),
  toCube(prefixes, ["prefix", ...callGroups]),
  ...["model", "provider", "none"].map((group) =>
    toCube(endings, [group, "status", "failure", "latency"]),
  ),
  toCube(turns, ["model", "provider"]),
  toCube(toolUses, ["model", "provider"]),
  ...[...callGroups, "trigger", "kind"].map((group) => toCube(compactions, [group])),
  toCube(jsonFacts.misses, ["session", "cause", "section", "tier", "model"]),
  toCube(jsonFacts.tiers, ["tier"]),
].filter((cube, index, all) => all.findIndex(({ name }) => name === cube.name) === index);

function toCube(fact: Fact, groups: readonly string[], names = Object.keys(fact.columns)): Cube {
  const dims = [...new Set(groups)].filter((dim) => dim !== "none");
  const columns = Object.fromEntries(
    names.map((name) => [name, fact.columns[name]?.merge ?? "sum"]),
  );
  return { name: `${fact.name} by ${dims.join(" ") || "nothing"}`, fact, dims, columns };
}

export interface CubeNeed {
  readonly fact: Fact;
  readonly dims: readonly string[];
  readonly columns: readonly string[];
}

/** The smallest cube that has them all. Undefined if sums of this kind are not stored. */
export function findCube({ fact, dims, columns }: CubeNeed): Cube | undefined {
  return cubes
    .filter(
      (cube) =>
        cube.fact.name === fact.name &&
        dims.every((dim) => cube.dims.includes(dim)) &&
        columns.every((column) => column in cube.columns),
    )
    .toSorted((left, right) => sizeOf(left) - sizeOf(right))[0];
}

/** A dim makes more cells, a column only wider ones. */
function sizeOf({ dims, columns }: Cube): number {
  return dims.length * 100 + Object.keys(columns).length;
}

/** Sums that were stored in another way are made again. */
export const layoutHash: string = hashContent(
  JSON.stringify([
    "columns with ; between",
    grains,
    storedBandsHash,
    isWarmSql,
    cubes.map(({ name, columns, fact }) => [name, columns, fact.order]),
  ]),
);

export const storedFacts: readonly Fact[] = [...new Set(cubes.map(({ fact }) => fact))];
