// A ledger with many calls behind the API and the page, and a page that is nothing but a sentence.
import { once } from "node:events";
import { createServer } from "node:http";
import { openApi } from "../../src/api/open-api.ts";
import { hashContent } from "../../src/core/hash.ts";
import type { ConversationBlock, GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { openPage } from "../../src/dashboard/open-page.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";

export interface Stage {
  readonly url: string;
  readonly emptyUrl: string;
  /** Calls that end now, of a session of their own. */
  record(from: number, count: number): Promise<void>;
  close(): Promise<void>;
}

export interface StageSize {
  readonly calls: number;
  /** Of the session `long`. */
  readonly columns: number;
}

export async function openStage(store: string, { calls, columns }: StageSize): Promise<Stage> {
  const ledger = await openLedger(store);
  const start = Date.now() - 6 * 86_400_000;
  const step = (6 * 86_400_000) / calls;
  for (let at = 0; at < calls; at += batch) {
    const wanted = Math.min(batch, calls - at);
    await ledger.recordCalls(
      Array.from({ length: wanted }, (_, index) =>
        toCall(
          `session-${Math.floor((at + index) / 200)}`,
          ((at + index) % 200) + 1,
          start + (at + index) * step,
        ),
      ),
    );
  }
  for (let at = 0; at < columns; at += batch) {
    await ledger.recordCalls(
      Array.from({ length: batch }, (_, index) =>
        toCall("long", at + index + 1, Date.now() - (columns - at - index) * 2000),
      ),
    );
  }
  const api = openApi({
    store,
    token: null,
    models: null,
    isEncrypted: false,
    onProblem: console.error,
  });
  const page = openPage();
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "/empty") {
      outgoing.setHeader("content-type", "text/html");
      return void outgoing.end("<!doctype html><title>empty</title><h1>Nothing</h1>");
    }
    (api.takes(incoming.url ?? "") ? api : page).answer(incoming, outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return {
    url,
    emptyUrl: `${url}/empty`,
    record: async (from, count) => {
      await ledger.recordCalls(
        Array.from({ length: count }, (_, index) => toCall("live", from + index, Date.now())),
      );
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await api.close();
      await ledger.close();
    },
  };
}

const batch = 1000;

/** A prompt that grows by two blocks a call, is compacted each 150 calls, and breaks each 97. */
function toCall(session: string, number: number, startMs: number): GatewayCall {
  const place = (number - 1) % 150;
  const isBroken = number % 97 === 0;
  const keptBlocks = place === 0 ? (number === 1 ? 0 : 2) : isBroken ? 1 : 2 + (place - 1) * 2;
  const ahead = place === 0 ? (number === 1 ? foundation : []) : [];
  const rewritten = isBroken
    ? Array.from({ length: Math.max(0, (place - 1) * 2 + 1) }, (_, index) =>
        toBlock(`again ${number} ${index}`, 300),
      )
    : [];
  const added = [
    ...ahead,
    ...rewritten,
    toBlock(`tool result of Bash ${number}`, 200 + (number % 7) * 250),
    toBlock(`reply ${number}`, 120),
  ];
  const read = isBroken ? 4000 : 7000 + place * 1000;
  const at = Math.round(startMs);
  return {
    id: `${session}-${number}`,
    conversation: {
      id: session,
      parentId: null,
      kind: "conversation",
      client: "claude-code",
      clientSession: session,
      callNumber: number,
    },
    startMs: at,
    firstByteMs: at + 200,
    endMs: at + 900,
    upstream: "anthropic",
    account: hashContent("an account"),
    protocol: "anthropic-messages",
    model: "claude-sonnet-5",
    factsId: "claude-sonnet-5",
    provider: "anthropic",
    status: "complete",
    stopReason: "end_turn",
    failure: null,
    replyId: `msg_${number}`,
    servedBy: null,
    usage: {
      uncachedTokens: 12,
      cacheReadTokens: read,
      cacheWriteTokens: { "5m": isBroken ? place * 1000 : 900 },
      outputTokens: 200,
      reasoningTokens: 0,
    },
    reportsCache: true,
    costPicoUsd: 12_000_000_000n,
    plainCostPicoUsd: 80_000_000_000n,
    explanation: isBroken
      ? {
          expectedReadTokens: read + 4000,
          reportedReadTokens: read,
          cause: "history rewritten",
          detail: null,
          block: null,
          lostTokens: 4000,
          lostPicoUsd: 7_000_000_000n,
          advice: "",
          detectedBy: ["expected more"],
        }
      : null,
    keptBlocks,
    addedBlocks: added,
    markers: [{ block: keptBlocks + added.length - 1, lifetime: "5m" }],
    otherPolicies: [],
    requestBytes: 10_000,
    responseBytes: 900,
    notes: [],
  };
}

function toBlock(
  section: string,
  size: number,
  tier: ConversationBlock["tier"] = "T3",
): ConversationBlock {
  return { hash: hashContent(section), tier, kind: "text", role: "user", section, tokens: size };
}

const foundation: readonly ConversationBlock[] = [
  toBlock("tool Bash", 2500, "T0"),
  toBlock("rules", 1500, "T1"),
];
