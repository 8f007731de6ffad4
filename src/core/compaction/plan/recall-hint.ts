// How the model gets back omitted text: the end of the note that replaces it.

/** Completes "… left out here: ". The available tools decide what helps. */
export type RecallHint = (toolUseId: string) => string;

export const byHistoryRead: RecallHint = (toolUseId) =>
  `history_read with tool_use_id "${toolUseId}" shows it whole`;

/** For agents without that tool. */
export const byRunningAgain: RecallHint = () =>
  "run the tool again, for a part if it can, to see it";
