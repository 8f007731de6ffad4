// Decides the next step of a compaction: read the history, lock, write the notes, commit or fail.
import { settingsOf } from "../../session/compaction-rules.ts";
import { toStateText } from "../../session/session-state.ts";
import type { Compacting, CompactionStep, DueCompaction, Unchanged } from "./compacting.ts";
import { toProviderWish, toSummaryRequest } from "./make-notes.ts";

export function nextCompactionStep(work: Compacting): CompactionStep {
  const { at } = work;
  switch (at.after) {
    case "begin":
      return { do: "read history" };
    case "read history":
      return { do: "lock" };
    case "lock":
      return askFirst(work, at.due);
    case "ask provider":
      return summarise(work, at.due);
    case "write notes":
      return { do: "renew foundation" };
    case "write compaction":
      return { do: "commit", made: at.made };
    case "fail":
      return keepState(work, at.outcome);
    case "end":
      return { do: "end", outcome: at.outcome };
  }
}

/** Starts with the cheapest way. Clearing and an outline call no model. */
function askFirst(work: Compacting, due: DueCompaction): CompactionStep {
  const { question, mayAskModel, input } = due;
  if (question === null || !mayAskModel) return { do: "renew foundation" };
  if (!settingsOf(work.request.compaction).mayUseProvider) return summarise(work, due);
  return { do: "ask provider", session: input.session, wish: toProviderWish(question) };
}

function summarise({ cache }: Compacting, { question, input }: DueCompaction): CompactionStep {
  if (question === null) return { do: "renew foundation" };
  const session = { ...input.session, cache };
  return { do: "summarise", session, request: toSummaryRequest(question) };
}

/** Inside a turn the next call stores the state. */
function keepState({ request }: Compacting, outcome: Unchanged): CompactionStep {
  const { session } = outcome;
  if (request.openTurn !== null) return { do: "end", outcome };
  return { do: "keep state", stateJson: toStateText(session, session.headTurnId) };
}
