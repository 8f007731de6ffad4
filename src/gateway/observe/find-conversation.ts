// Finds the conversation of a call: the one with the longest common beginning. The client's ids are hints.
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { ConversationMemory } from "./conversation-memory.ts";
import {
  beginConversation,
  openingOf,
  type Branch,
  type CallToPlace,
  type Conversation,
} from "./conversation.ts";

export interface Found {
  readonly conversation: Conversation;
  /** The call that this one is compared with; null for a first call. */
  readonly branch: Branch | null;
  /** Whether it continues that call; otherwise it begins another line. */
  readonly goesOn: boolean;
}

/** Where conversations are looked up. */
type Known = Pick<ConversationMemory, "withOpening" | "inSession" | "latestOf">;

/** `named`: the conversation of the reply that the request names. */
export function findConversation(
  call: CallToPlace,
  named: Conversation | null,
  known: Known,
  newId: () => string,
): Found {
  if (named !== null) return { conversation: named, branch: latestOf(named), goesOn: true };
  const best = longestBeginning(call, known);
  const inSession =
    call.marks.session === null ? [] : known.inSession(call.tenant, call.marks.session);
  if (asksForSummary(call)) {
    const parent = best?.conversation ?? mainOf(inSession);
    if (parent !== null) {
      parent.summarisedMs = call.nowMs;
      const begun = beginConversation(call, { id: newId(), parentId: parent.id, role: "summary" });
      return { conversation: begun, branch: best?.branch ?? null, goesOn: false };
    }
  }
  if (best !== null) return best;
  const again = rewritten(call, [...inSession, ...known.latestOf(call.tenant)]);
  if (again !== null) return { conversation: again, branch: latestOf(again), goesOn: true };
  const parent = parentOf(call, inSession) ?? startedBy(call, known);
  const parentId = parent?.id ?? null;
  const conversation = beginConversation(call, { id: newId(), parentId, role: "own" });
  return { conversation, branch: null, goesOn: false };
}

function latestOf({ branches }: Conversation): Branch | null {
  return branches.at(-1) ?? null;
}

interface Beginning extends Found {
  readonly branch: Branch;
  readonly shared: number;
}

/** Among equal ones the latest, of the same model and session first. */
function longestBeginning(call: CallToPlace, known: Known): Beginning | null {
  const { blocks } = call.request;
  const opening = openingOf(blocks);
  const key = blocks[opening]?.key;
  if (key === undefined) return null;
  let best: Beginning | null = null;
  let bestRank = -1;
  // The key of a prefix holds everything before it: these have the same tools, system text and first block.
  for (const conversation of known.withOpening(call.tenant, key)) {
    if (conversation.agent !== call.marks.agent || conversation.role === "summary") continue;
    for (const branch of conversation.branches) {
      if (branch.blocks[opening]?.key !== key) continue;
      const shared = sharedKeys(branch.blocks, blocks);
      if (!mayGoOn(call, conversation, branch, shared)) continue;
      const rank =
        (branch.model === call.model ? 2 : 0) + (isSameSession(call, conversation) ? 1 : 0);
      if (best === null || rank > bestRank || (rank === bestRank && shared > best.shared)) {
        const goesOn = shared >= lastMessageStart(branch.blocks);
        best = { conversation, branch, shared, goesOn };
        bestRank = rank;
      }
    }
  }
  return best;
}

/** Several sessions may begin with the same message. A resumed one also repeats the answer to it. */
function mayGoOn(
  { marks }: CallToPlace,
  { session }: Conversation,
  { blocks }: Branch,
  shared: number,
): boolean {
  if (marks.session === null || session === null || marks.session === session) return true;
  const answered = blocks.findIndex(({ role }) => role === "assistant");
  return answered !== -1 && shared > answered && shared >= lastMessageStart(blocks);
}

function isSameSession({ marks }: CallToPlace, { session }: Conversation): boolean {
  return marks.session !== null && marks.session === session;
}

/** Where the last message begins: clients rewrite or drop it without breaking the line. */
function lastMessageStart(blocks: readonly ForeignBlock[]): number {
  let at = blocks.length - 1;
  while (at > 0 && blocks[at - 1]?.endsMessage === false && blocks[at - 1]?.tier === "T3") at -= 1;
  return at;
}

/** Number of equal blocks at the beginning. Keys are chained, so a binary search finds it. */
export function sharedKeys(before: readonly ForeignBlock[], now: readonly ForeignBlock[]): number {
  let low = 0;
  let high = Math.min(before.length, now.length);
  // Most calls repeat the whole call before.
  if (high > 0 && before[high - 1]?.key === now[high - 1]?.key) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before[middle]?.key === now[middle]?.key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A conversation whose beginning changed: other tools, another system text, a history that the client compacted. */
function rewritten(call: CallToPlace, members: readonly Conversation[]): Conversation | null {
  const { marks, request } = call;
  const hasTools = request.blocks.some(({ tier }) => tier === "T0");
  // A call without tools asks for a title or something of its own. Only its content can show that it continues a conversation.
  let hashes: ReadonlySet<string> | null = null;
  const alike = members.filter(
    (each) => each.agent === marks.agent && each.role === "own" && each.hasTools === hasTools,
  );
  for (const conversation of alike) {
    const branch = latestOf(conversation);
    if (branch === null) continue;
    const isNamed = isSameSession(call, conversation);
    if (!isNamed && marks.session !== null && conversation.session !== null) continue;
    if (isNamed) hashes ??= new Set(request.blocks.map(({ hash }) => hash));
    const repeats =
      hashes !== null && isNamed
        ? repeatsHistory(branch.blocks, request.blocks) || repeatsEnd(branch.blocks, hashes)
        : extendsHistory(branch.blocks, request.blocks);
    if (repeats) return conversation;
    // After a summary, the same head is followed by another history.
    const isCompacted = conversation.summarisedMs !== null;
    const mayBeCompacted =
      (isNamed && hasTools) || (isCompacted && hasSameHead(branch.blocks, request.blocks));
    if (mayBeCompacted && sharesSystem(branch.blocks, request.blocks)) return conversation;
  }
  return null;
}

/** The same first message and an answer to it, whatever comes before them; the same answer, if the earlier call had one. */
function repeatsHistory(before: readonly ForeignBlock[], now: readonly ForeignBlock[]): boolean {
  const [first, second] = [openingOf(before), openingOf(now)];
  if (first === -1 || second === -1) return false;
  for (let index = 0; ; index += 1) {
    const old = before[first + index];
    const current = now[second + index];
    if (old === undefined) return current?.role === "assistant";
    if (old.hash !== current?.hash) return false;
    if (old.role === "assistant") return true;
  }
}

/**
 * All earlier messages and an answer to them. Conversations of one program may begin alike, with examples or a greeting, so
 * without a client's id nothing less proves it. In a long one the first message may have been rewritten.
 */
function extendsHistory(before: readonly ForeignBlock[], now: readonly ForeignBlock[]): boolean {
  const [first, second] = [openingOf(before), openingOf(now)];
  const length = first === -1 || second === -1 ? 0 : before.length - first;
  if (length === 0 || now[second + length]?.role !== "assistant") return false;
  let changed = 0;
  for (let index = 0; index < length; index += 1) {
    if (before[first + index]?.hash === now[second + index]?.hash) continue;
    changed += 1;
    if (index > 0 || length < rewrittenLengthMin) return false;
  }
  return changed <= 1;
}

const rewrittenLengthMin = 4;
const endLength = 8;

/** Most of the latest messages are unchanged, one of the model's among them: only the beginning was rewritten. */
function repeatsEnd(before: readonly ForeignBlock[], now: ReadonlySet<string>): boolean {
  const end = before.slice(-endLength).filter(({ tier }) => tier === "T3");
  const kept = end.filter(({ hash }) => now.has(hash));
  return kept.length * 2 > end.length && kept.some(({ role }) => role === "assistant");
}

/** At least half of the system text is the same. */
function sharesSystem(before: readonly ForeignBlock[], now: readonly ForeignBlock[]): boolean {
  const [old, current] = [systemOf(before), systemOf(now)];
  const known = new Set(old.map(({ hash }) => hash));
  const shared = tokensOf(current.filter(({ hash }) => known.has(hash)));
  return shared * 2 >= Math.min(tokensOf(old), tokensOf(current));
}

function systemOf(blocks: readonly ForeignBlock[]): readonly ForeignBlock[] {
  const opening = openingOf(blocks);
  const head = opening === -1 ? blocks : blocks.slice(0, opening);
  return head.filter(({ tier }) => tier === "T1");
}

function tokensOf(blocks: readonly ForeignBlock[]): number {
  return blocks.reduce((sum, block) => sum + block.tokens, 0);
}

function hasSameHead(before: readonly ForeignBlock[], now: readonly ForeignBlock[]): boolean {
  const head = openingOf(now);
  return head > 0 && openingOf(before) === head && before[head - 1]?.key === now[head - 1]?.key;
}

/** The conversation that started this one: that of the named parent agent, or else the session's own. */
function parentOf({ marks }: CallToPlace, inSession: readonly Conversation[]): Conversation | null {
  if (marks.agent === null) return mainOf(inSession);
  const parent = inSession.find(
    (each) => each.agent === marks.parentAgent && each.role === "own" && each.hasTools,
  );
  return parent ?? mainOf(inSession);
}

/** The conversation of the session that the client names as parent. */
function startedBy({ tenant, marks }: CallToPlace, known: Known): Conversation | null {
  if (marks.parentSession === null) return null;
  const own = known
    .inSession(tenant, marks.parentSession)
    .filter((each) => each.role === "own" && each.hasTools);
  return own.at(-1) ?? null;
}

/** The session's own conversation: with tools, and of no agent within it. */
function mainOf(inSession: readonly Conversation[]): Conversation | null {
  const own = inSession.filter(
    (each) => each.agent === null && each.parentId === null && each.role === "own" && each.hasTools,
  );
  // The session's first one; later ones are sub-agents that do not say so.
  return own.at(-1) ?? null;
}

/** How clients ask for a summary that replaces a conversation. Seen in captures, 2026-11-15. */
const summaryWords =
  /\b(?:create|write|provide|generate|produce)\b[^.]{0,80}\bsummar\w*[^.]{0,80}\bconversation\b|\bsummari[sz]e (?:the|this|our) conversation\b|\bcontext checkpoint compaction\b|\bprompt for continuing our conversation\b|<state_snapshot>/i;
/** The request stands at the beginning of the message or at its end. */
const searchedLength = 2000;

/** The last message asks for a summary of the messages before it. */
function asksForSummary({ request }: CallToPlace): boolean {
  const last = request.blocks.at(-1);
  if (last === undefined || last.role !== "user" || last.kind !== "text") return false;
  const { text } = last;
  return [text.slice(0, searchedLength), text.slice(-searchedLength)].some((part) =>
    summaryWords.test(part),
  );
}
