// Checks for summaries by the provider: what can be summarised, and whether a block sent back is one of ours.
import { textOr } from "./request/read-fields.ts";
import type { ReadBlock } from "./request/read-blocks.ts";
import { compactionBeta } from "./request/read-options.ts";
import type { MessagesRequest } from "./request/read-request.ts";
import { invalid, type Refusal } from "./refusal.ts";
import { isContentOf, readSummarySignature } from "./render/signature.ts";
import { validateCompactionRequest } from "./request/validate-options.ts";

/** Checks blocks sent back and, if a summary is requested, that there is something to summarise. */
export function validateCompaction(request: MessagesRequest): void {
  const { messages, betas, options } = request;
  const blocks = messages.flatMap((message) => message.blocks);
  const summaries = blocks.filter(({ type }) => type === "compaction");
  for (const summary of summaries) {
    if (!betas.has(compactionBeta))
      throw invalid(`${summary.path}: compaction block requires anthropic-beta: ${compactionBeta}`);
    if (summary !== messages[0]?.blocks[0])
      throw refusal(
        `${summary.path}: a compaction block must be the first block of the first message`,
        "compaction_block_misplaced",
      );
    validateSummary(summary);
  }
  if (options.compaction === null) return;
  validateCompactionRequest(request);
  if (blocks.length === summaries.length)
    throw refusal("compaction: there is nothing to summarize", "compaction_nothing_to_summarize");
}

function validateSummary({ path, json }: ReadBlock): void {
  const origin = readSummarySignature(textOr(json, "signature", ""));
  if (origin === null)
    throw refusal(
      `${path}: Invalid \`signature\` in \`compaction\` block`,
      "compaction_signature_invalid",
    );
  if (!isContentOf(textOr(json, "content", ""), origin))
    throw refusal(
      `${path}: the content of the \`compaction\` block does not match its \`signature\``,
      "compaction_content_mismatch",
    );
}

function refusal(message: string, errorCode: string): Refusal {
  return invalid(message, { error_code: errorCode });
}
