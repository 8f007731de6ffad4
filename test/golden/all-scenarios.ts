// Every scenario there is.
import type { Scenarios } from "./scenario.ts";
import { aiSdk } from "./scenarios/ai-sdk.ts";
import { compaction } from "./scenarios/compaction.ts";
import { failures } from "./scenarios/failures.ts";
import { interruptions } from "./scenarios/interruptions.ts";
import { ledgerReads } from "./scenarios/ledger-reads.ts";
import { models } from "./scenarios/models.ts";
import { overflow } from "./scenarios/overflow.ts";
import { ownLoop } from "./scenarios/own-loop.ts";
import { policies } from "./scenarios/policies.ts";
import { resume } from "./scenarios/resume.ts";
import { subAgents } from "./scenarios/sub-agents.ts";
import { turns } from "./scenarios/turns.ts";
import { workspace } from "./scenarios/workspace.ts";

export const allScenarios: Scenarios = {
  ...turns,
  ...ownLoop,
  ...aiSdk,
  ...resume,
  ...overflow,
  ...compaction,
  ...models,
  ...interruptions,
  ...subAgents,
  ...failures,
  ...policies,
  ...workspace,
  ...ledgerReads,
};
