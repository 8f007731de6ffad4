// Refuses figures of a recorded request that cannot be true, before they reach sums and prices.
import { generatedTokens, promptTokens } from "../../core/message/usage.ts";
import type { Recorded } from "../recording.ts";
import { tokensMaxOf } from "./block-draft.ts";
import { skip } from "./line-reader.ts";

type RequestOf = Extract<Recorded, { readonly type: "request" }>;

/** The request with what can be true, and a skipped value for each thing that cannot. */
export function refuseImpossible(
  recorded: RequestOf,
  file: string,
  line: number | null,
): readonly Recorded[] {
  const { request } = recorded;
  const tokensMax = tokensMaxOf(request.model);
  const sent = request.append.reduce((sum, { tokens }) => sum + tokens, request.remainderTokens);
  if (!(sent <= tokensMax)) {
    return [skip(file, line, `it has ${sent} tokens, which cannot be true`)];
  }
  const { usage } = request;
  const billed = usage === null ? 0 : promptTokens(usage) + generatedTokens(usage);
  const isBilled = billed <= tokensMax;
  const isTimed = isTime(request.startMs) && isTime(request.endMs);
  if (isBilled && isTimed) return [recorded];
  return [
    ...(isBilled ? [] : [skip(file, line, `its usage of ${billed} tokens cannot be true`)]),
    ...(isTimed ? [] : [skip(file, line, "its time cannot be true")]),
    {
      ...recorded,
      request: {
        ...request,
        usage: isBilled ? usage : null,
        startMs: isTime(request.startMs) ? request.startMs : null,
        endMs: isTime(request.endMs) ? request.endMs : null,
      },
    },
  ];
}

/** From 1970, or since the start of the recording, to 2100. */
function isTime(ms: number | null): boolean {
  return ms === null || (ms >= 0 && ms < Date.UTC(2100, 0));
}
