// Explains for every recorded call with usage why it read less from the cache than it could have.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ExplainedCall } from "./explained-call.ts";
import { openExplainer, type Explainer } from "./explain-workspace.ts";
import type { Recorded, RecordedSession } from "../recording.ts";
import { createModelLookup } from "../replay-model.ts";

/** Every call with usage, in the order of the recordings. Holds one workspace in memory at a time. */
export async function* explainRecordings(
  recordings: AsyncIterable<Recorded>,
  onSkipped: (skipped: Extract<Recorded, { type: "skipped" }>) => void = () => {},
  catalogue?: Catalogue,
): AsyncGenerator<ExplainedCall> {
  let workspace: Walked = { name: "", explainer: openExplainer(), sessions: new Map() };
  const lookUp = createModelLookup(null, catalogue);
  for await (const recorded of recordings) {
    if (recorded.type === "skipped") onSkipped(recorded);
    else if (recorded.type === "session") {
      const { session } = recorded;
      if (session.workspace !== workspace.name) {
        yield* workspace.explainer.take("all");
        const name = session.workspace;
        workspace = { name, explainer: openExplainer(), sessions: new Map() };
      }
      workspace.sessions.set(session.id, session);
    } else {
      const session = workspace.sessions.get(recorded.sessionId);
      if (session === undefined) continue;
      const { facts } = lookUp(session, recorded.request);
      workspace.explainer.add(session, recorded.request, facts);
      yield* workspace.explainer.take("ready");
    }
  }
  yield* workspace.explainer.take("all");
}

interface Walked {
  readonly name: string;
  readonly explainer: Explainer;
  readonly sessions: Map<string, RecordedSession>;
}
