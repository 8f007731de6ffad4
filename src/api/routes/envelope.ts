// What every answer is wrapped in: `data` and what belongs to it, or `error`.
import { count, list, moment, object, orNull, text, type Schema } from "./schema.ts";

const window: Schema = object(
  {
    start: moment("included"),
    end: moment("not included"),
  },
  "the time that the answer is about, in UTC",
);

const pricing = text("the latest day on which a current price was checked");
const notes = list(text("a sentence"), "what limits the figures, in words");

/** Rows of one analysis. */
export function ranked(row: Schema): Schema {
  return object({
    window,
    current_pricing_version: pricing,
    data: list(row, "best first, as ordered"),
    left_out_count: count("rows beyond the limit"),
    notes,
  });
}

/** One page of a list over a window. */
export function pageOf(row: Schema): Schema {
  return object({
    window,
    data: list(row, "one page"),
    next_cursor: orNull(text("for the parameter `cursor` of the next page; null after the last")),
    notes,
  });
}

export function one(data: Schema): Schema {
  return object({ data });
}

export const errorBody: Schema = object({
  error: object({
    code: text("one of the codes of this document"),
    message: text("what is wrong"),
    hint: text("what to try next"),
  }),
});
