// What every ledger promises, whatever database it is on. Read top to bottom it describes a ledger.
import { describe } from "vitest";
import { auditContract } from "./contract/audit.ts";
import { checkContract } from "./contract/check.ts";
import { contentsContract } from "./contract/contents.ts";
import { foundationsContract } from "./contract/foundations.ts";
import { conversationStatesContract } from "./contract/conversation-states.ts";
import { deletionContract } from "./contract/deletion.ts";
import { eventFeedContract } from "./contract/event-feed.ts";
import { eventsContract } from "./contract/events.ts";
import { compactionInTurnContract } from "./contract/compaction/compaction-in-turn.ts";
import { compactionLocksContract } from "./contract/compaction/compaction-locks.ts";
import { compactionContract } from "./contract/compaction/compacting-sessions.ts";
import { compactionsContract } from "./contract/compaction/compactions.ts";
import { forksContract } from "./contract/forks.ts";
import { gatewayCallsContract } from "./contract/gateway-calls.ts";
import { keySpendingContract } from "./contract/key-spending.ts";
import { gatewayRunsContract } from "./contract/gateway-runs.ts";
import { historyContract } from "./contract/history.ts";
import { leasesContract } from "./contract/leases.ts";
import { lessonsContract } from "./contract/lessons.ts";
import { loneCallsContract } from "./contract/lone-calls.ts";
import { messagesContract } from "./contract/messages.ts";
import { migrationsContract } from "./contract/migrations.ts";
import { queueContract } from "./contract/queue.ts";
import { randomProgramsContract } from "./contract/random-programs.ts";
import { resourcesContract } from "./contract/resources.ts";
import { sessionsContract } from "./contract/sessions.ts";
import { spendingContract } from "./contract/spending.ts";
import { storedSumsContract } from "./contract/stored-sums.ts";
import { switchesContract } from "./contract/switches.ts";
import { tablesContract } from "./contract/tables.ts";
import { toolCallsContract } from "./contract/tool-calls.ts";
import { transferContract } from "./contract/transfer.ts";
import { turnsContract } from "./contract/turns.ts";
import type { OpenLedger, TestStore } from "./stores.ts";

const parts: Readonly<Record<string, (open: OpenLedger) => void>> = {
  sessions: sessionsContract,
  turns: turnsContract,
  "tool calls": toolCallsContract,
  "changes of model": switchesContract,
  spending: spendingContract,
  messages: messagesContract,
  contents: contentsContract,
  foundations: foundationsContract,
  leases: leasesContract,
  "what sessions learned": lessonsContract,
  queue: queueContract,
  forks: forksContract,
  compactions: compactionsContract,
  compactionState: compactionContract,
  "compactions in a turn": compactionInTurnContract,
  history: historyContract,
  "compaction locks": compactionLocksContract,
  events: eventsContract,
  audit: auditContract,
  check: checkContract,
};

const partsOfStore: Readonly<Record<string, (store: TestStore) => void>> = {
  "stored sums": storedSumsContract,
  "calls without a turn": loneCallsContract,
  "calls that the gateway saw": gatewayCallsContract,
  "what keys of the gateway spent": keySpendingContract,
  "events by their place": eventFeedContract,
  "runs of gateways": gatewayRunsContract,
  "states of conversations": conversationStatesContract,
  "what providers keep": resourcesContract,
  deletion: deletionContract,
  transfer: transferContract,
  migrations: migrationsContract,
  tables: tablesContract,
};

export function ledgerContract(store: TestStore, options: { readonly programs: number }): void {
  describe.each(Object.entries(parts))("%s", (_name, part) => {
    part(store.open);
  });
  describe.each(Object.entries(partsOfStore))("%s", (_name, part) => {
    part(store);
  });
  describe("random programs", () => {
    randomProgramsContract(store.open, options.programs);
  });
}
