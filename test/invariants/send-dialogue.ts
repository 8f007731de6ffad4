// A conversation through assembling, planning and encoding, on a provider that does what the plan expects.
import { assemble, type Assembly } from "../../src/core/assembly/assemble.ts";
import { appendMessages } from "../../src/core/assembly/thread.ts";
import type { CachePlan } from "../../src/core/cache/cache-plan.ts";
import { learnFromReply } from "../../src/core/cache/learn-from-reply.ts";
import type { PaceKind } from "../../src/core/cache/pace.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import type { Policy } from "../../src/core/cache/policy.ts";
import type { Message } from "../../src/core/message/message.ts";
import { toToolDefinition } from "../../src/core/message/tool-definition.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import type { OfferedTool } from "../../src/core/tools/select-tools.ts";
import type { EncodedRequest } from "../../src/core/wire/encoded-request.ts";
import type { CallOptions, Protocol } from "../../src/core/wire/protocol.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { Session, SessionSetup } from "../../src/core/session/session.ts";
import type { Dialogue } from "./dialogue.ts";

export interface Setting {
  readonly model: ModelFacts;
  readonly protocol: Protocol;
  readonly policy: Policy;
  readonly pace?: PaceKind;
  readonly tools?: readonly OfferedTool[];
  readonly permissions?: readonly string[];
  readonly skills?: NonNullable<SessionSetup["skills"]>;
  readonly context?: SessionSetup["context"];
}

export interface SentCall {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly request: EncodedRequest;
  /** One character for each byte, markers included. */
  readonly body: string;
}

export const options: CallOptions = { outputTokensMax: 1000, stream: true };

export const offeredTools: readonly OfferedTool[] = ["Read", "Edit", "Bash"].map((name) => ({
  definition: toToolDefinition({
    name,
    description: `${name}s what is in the workspace. ${"It says what it did. ".repeat(20)}`,
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  }),
  needs: [],
}));

export const workspaceRules: string = Array.from(
  { length: 60 },
  (_, index) => `Rule ${index}: read the tests of module ${index} before you change it.`,
).join("\n");

export function openFor({ pace = "tool loop", ...setting }: Setting): Session {
  const context = { role: "unified", workspaceRules, date: "2026-11-15" } as const;
  return openSession({
    context,
    tools: offeredTools,
    ...setting,
    pace,
    counter: cheapCounter,
    options,
  });
}

/** Every call of the conversation, in order. */
export function sendDialogue({ calls }: Dialogue, setting: Setting): SentCall[] {
  let session = openFor(setting);
  let startMs = 1_800_000_000_000;
  const sent: SentCall[] = [];
  for (const { gapMs, current, volatile, reply } of calls) {
    startMs += gapMs;
    const call = sendOne(session, { current, volatile }, startMs);
    sent.push(call);
    session = answered(session, call, reply, startMs);
  }
  return sent;
}

/** One call, without what it leads to. */
export function sendOne(
  { thread, policy, model, protocol, cache, pace, options: asked }: Session,
  said: Pick<Dialogue["calls"][number], "current" | "volatile">,
  now: number,
): SentCall {
  const { layout, markers } = policy;
  const assembly = assemble({ thread, ...said, layout, model });
  const { blocks } = assembly;
  const plan = planCache({ blocks, rules: model, markers, state: cache, pace, now });
  const request = protocol.encode({ assembly, plan, model, options: asked });
  return { assembly, plan, request, body: toBytes(request) };
}

function answered(
  session: Session,
  { assembly, plan }: SentCall,
  reply: Message,
  startMs: number,
): Session {
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  const { state: cache } = learnFromReply({
    state: session.cache,
    plan,
    blocks: assembly.blocks,
    rules: session.model.cache,
    usage: {
      uncachedTokens: Math.max(0, uncachedTokens),
      cacheReadTokens: readTokens,
      cacheWriteTokens: writeTokens,
      outputTokens: 1,
      reasoningTokens: 0,
    },
    reportsCache: true,
    startMs,
  });
  return { ...session, cache, thread: appendMessages(assembly.thread, [reply]) };
}

export function toBytes({ pieces }: EncodedRequest): string {
  return Buffer.concat(pieces).toString("latin1");
}
