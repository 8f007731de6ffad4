// The parameters of a query string, each once: a name means the same on every route.
import type { Schema } from "./schema.ts";

export interface Parameter {
  readonly meaning: string;
  readonly schema: Schema;
}

export type ParameterName = (typeof parameterNames)[number];

const parameterNames = [
  "from",
  "to",
  "group_by",
  "order",
  "limit",
  "points",
  "baseline",
  "turn",
  "cursor",
  "search",
  "origin",
  "agent",
  "parent",
  "session",
  "model",
  "types",
  "after",
  "cause",
] as const;

const words: Schema = { type: "string" };

export const parameters: Readonly<Record<ParameterName, Parameter>> = {
  from: {
    meaning:
      "start: a day (`2026-11-09`), a time (`2026-11-09T08:00Z`) or an age (`24h`, `30d`); default: 7 days before the end",
    schema: words,
  },
  to: { meaning: "end, not included, in the same forms; default: now", schema: words },
  group_by: { meaning: "one row per model, session, day …", schema: words },
  order: {
    meaning: "the figure to sort by, or `group`; `:asc` and `:desc` change the direction",
    schema: words,
  },
  limit: {
    meaning: "at most so many rows, 1 to 1000; default: 100",
    schema: { type: "integer", minimum: 1 },
  },
  points: {
    meaning: "with rows by day or hour: at most so many, 1 to 2000; default: 2000",
    schema: { type: "integer", minimum: 1 },
  },
  baseline: { meaning: "the model to compare prices with", schema: words },
  turn: { meaning: "only this turn, call by call", schema: words },
  cursor: { meaning: "`next_cursor` of the page before; none for the first page", schema: words },
  search: {
    meaning:
      "only those that have all these words in their name, program, model, task, folder or context",
    schema: words,
  },
  origin: {
    meaning: "sessions of our own, conversations that the gateway saw, or all",
    schema: words,
  },
  agent: { meaning: "only those of this agent or program", schema: words },
  parent: { meaning: "only those that this session started", schema: words },
  session: { meaning: "only those of this session", schema: words },
  model: { meaning: "only those of this model", schema: words },
  types: { meaning: "only events of these types, with commas between", schema: words },
  cause: { meaning: "only misses of this cause", schema: words },
  after: { meaning: "only events after this position", schema: words },
};
