// What is particular to each vendor that speaks another's protocol, from vendors.json.
import * as read from "../../core/models/read-fields.ts";
import type { Keeping } from "../billing/billable-request.ts";
import vendorsFile from "./data/vendors.json" with { type: "json" };
import { refusalNames, type RefusalName } from "./refusals.ts";

export interface VendorRow {
  readonly name: string;
  /** Where Chat Completions begins, after `/vendors/NAME`. */
  readonly base: string;
  /** The path of its Messages API; null if it has none. */
  readonly messages: string | null;
  /** The provider whose models it has. */
  readonly models: string;
  /** A server of one's own: any model's name is served, for no money, at a stated speed. */
  readonly isLocal: boolean;
  readonly refuses: readonly RefusalName[];
  /** The member with the model's thinking; null if replies show none. */
  readonly thinking: string | null;
  /** Whether the thinking is counted beside the completion. */
  readonly thinkingIsBeside: boolean;
  readonly callIds: (typeof callIds)[number];
  readonly counts: (typeof counts)[number];
  readonly countsIn: (typeof countPlaces)[number];
  /** Whether a stream ends with the usage without being asked. */
  readonly streamUsage: (typeof streamUsages)[number];
  readonly errors: (typeof errorForms)[number];
  /** The words for a prompt that is too long, with {tokens}, {max} and {over}. */
  readonly overflow: string;
  readonly keeping: Keeping;
  /** Whether a stream of its Messages API says only in its last usage what was read. */
  readonly splitIsLate: boolean;
  /** Whether its Messages API alone reads markers. */
  readonly marksMessagesOnly: boolean;
}

const callIds = ["call_", "nine letters and digits", "chatcmpl-tool-", "short"] as const;
const counts = [
  "in the details",
  "in the details, if asked",
  "hits and misses",
  "beside the total",
  "num_cached_tokens",
  "with cache creation",
  "timings",
  "none",
] as const;
const countPlaces = ["the usage", "the last choice", "x_groq"] as const;
const streamUsages = ["asked", "always"] as const;
const boundaries = ["every step", "ends of messages", "prefix units", "slots"] as const;
const errorForms = [
  "openai",
  "flat",
  "flat by name",
  "numbered",
  "server",
  "text",
  "code and text",
] as const;

export const vendorRows: readonly VendorRow[] = parseRows(vendorsFile, "vendors.json");

function parseRows(value: unknown, file: string): readonly VendorRow[] {
  const { vendors } = read.shape(value, file, {
    source: read.text,
    checkedOn: read.day,
    vendors: read.record,
  });
  return Object.entries(vendors).map(([name, row]) => {
    const { note: _, ...rest } = read.shape(row, `${file}: ${name}`, {
      base: read.text,
      messages: read.nullable(read.text),
      models: read.orElse(name, read.text),
      isLocal: read.orElse(false, read.flag),
      refuses: read.listOf(read.choice(refusalNames)),
      thinking: read.nullable(read.text),
      thinkingIsBeside: read.orElse(false, read.flag),
      callIds: read.orElse("call_", read.choice(callIds)),
      counts: read.choice(counts),
      countsIn: read.orElse("the usage", read.choice(countPlaces)),
      streamUsage: read.orElse("asked", read.choice(streamUsages)),
      errors: read.choice(errorForms),
      overflow: read.text,
      keeping: parseKeeping,
      splitIsLate: read.orElse(false, read.flag),
      marksMessagesOnly: read.orElse(false, read.flag),
      note: read.nullable(read.text),
    });
    return { name, ...rest };
  });
}

export function parseKeeping(value: unknown, place: string): Keeping {
  return read.shape(value, place, {
    boundary: read.choice(boundaries),
    stepTokens: read.orElse(1, read.count),
    minimumTokens: read.orElse(1, read.count),
    keptSeconds: read.nullable(read.count),
    slots: read.orElse(1, read.count),
  });
}
