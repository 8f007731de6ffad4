// Pages of a list: the limit, and a cursor that says after which row the next page begins.
import { refuse } from "../../analytics/analytics-error.ts";
import { parseWindow, toIso, type TimeWindow } from "../../analytics/time-window.ts";
import { refuseWith } from "../answer/api-error.ts";
import type { Asked, Found } from "./route.ts";

/** Where the page before ended: a time or a number, and what breaks ties. */
export interface Place {
  readonly at: number;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly after: Place | null;
}

const limitMax = 1000;

export function parsePage({ limit: text = "100", cursor }: Asked["query"]): Page {
  const limit = Number(text);
  if (!/^\d{1,6}$/.test(text) || limit < 1 || limit > limitMax) {
    throw refuse(
      "invalid_limit",
      `limit cannot be "${text.slice(0, 40)}"`,
      `give a whole number from 1 to ${limitMax}`,
    );
  }
  return { limit, after: cursor === undefined ? null : parseCursor(cursor) };
}

function parseCursor(cursor: string): Place {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const [, at = "", id = ""] = /^(\d{1,16})\n([^]*)$/.exec(text) ?? [];
  if (
    at !== "" &&
    Number.isSafeInteger(Number(at)) &&
    toCursor({ at: Number(at), id }) === cursor
  ) {
    return { at: Number(at), id };
  }
  throw refuseWith(
    "invalid_cursor",
    "the cursor is none of this API's",
    "pass on `next_cursor` of the page before, unchanged, or leave it out for the first page",
  );
}

function toCursor({ at, id }: Place): string {
  return Buffer.from(`${at}\n${id}`).toString("base64url");
}

/** One row more than the page is read, to know whether there is a next one. */
export function cut<Row>(
  rows: readonly Row[],
  { limit }: Page,
  placeOf: (row: Row) => Place,
): { readonly shown: readonly Row[]; readonly next: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last !== undefined ? toCursor(placeOf(last)) : null;
  return { shown, next };
}

export interface Windowed {
  readonly window: TimeWindow;
  readonly isClosed: boolean;
}

/** The window of a list, with the same words as the analyses. */
export function windowOf({ query }: Asked, nowMs: number): Windowed {
  const { from, to } = query;
  const given = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const window = parseWindow(given, nowMs);
  return { window, isClosed: to !== undefined && window.endMs <= nowMs };
}

export function toPage(
  { window, isClosed }: Windowed,
  data: readonly object[],
  next: string | null,
  notes: readonly string[] = [],
): Found {
  const { startMs, endMs } = window;
  const ends = { start: toIso(startMs), end: toIso(endMs) };
  return { body: { window: ends, data, next_cursor: next, notes }, isClosed };
}
