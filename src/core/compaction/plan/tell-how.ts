// How the model gets back what it is no longer shown: the end of a note that stands in its place.

/** Completes "… left out here: "; the tools on offer decide what helps. */
export type TellHow = (toolUseId: string) => string;

export const byHistoryRead: TellHow = (toolUseId) =>
  `history_read with tool_use_id "${toolUseId}" shows it whole`;

/** For agents without that tool. */
export const byRunningAgain: TellHow = () => "run the tool again, for a part if it can, to see it";
