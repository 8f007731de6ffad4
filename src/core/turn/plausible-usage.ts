// Counts that cannot be true are not booked: they would spoil every sum they enter.
import type { ReplyNote } from "../ledger/call-entry.ts";
import { generatedTokens, noUsage, promptTokens } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { Reply } from "../wire/reply.ts";

/** Prompts are shorter than the window; the rest is room for providers that count several attempts. */
const windowsMax = 100;

/** The reply, without counts beyond all measure: it then counts as a reply without a bill. */
export function withPlausibleUsage(
  reply: Reply,
  { windowTokens }: Pick<ModelFacts, "windowTokens">,
): Reply {
  const { usage } = reply.usage;
  const most = Math.max(promptTokens(usage), generatedTokens(usage));
  if (most <= windowsMax * windowTokens) return reply;
  const refused = `${JSON.stringify(usage)} is more than ${windowsMax} times the window of ${windowTokens} tokens`;
  return {
    ...reply,
    usage: { usage: noUsage, isReported: false, reportsCache: false, warnings: [], refused },
  };
}

export function noteRefused({ usage: { refused } }: Reply): readonly ReplyNote[] {
  if (refused === undefined) return [];
  return [
    {
      kind: "usage-refused",
      detail: `the reported usage cannot be true and is not booked: ${refused}`,
    },
  ];
}
