// Observes one exchange: reads the request when it is whole and the answer as it passes, and gives the verdict at the end.
import type { Protocol } from "../../core/wire/protocol.ts";
import type { ExchangeEnd, ExchangeStart, Observation, Rewritten } from "../exchange.ts";
import type { CallRewriter } from "./call-rewriter.ts";
import { addNames, readMarks, type CallMarks } from "./client-marks.ts";
import type { Seeking } from "../share/conversation-share.ts";
import { StrataError } from "../../core/strata-error.ts";
import { BodyBytes } from "./body-bytes.ts";
import { decodeWhole, isCoded } from "./decode-content.ts";
import { likest, readBody, type ReadDocument } from "./read-body.ts";
import { openRepeatedBytes } from "./repeated-bytes.ts";
import { asSent, prepareCall, type CallToPrepare, type Prepared } from "./rewriting.ts";
import { openReplyReader, seenNothing, type ReplyReader, type SeenReply } from "./read-reply.ts";
import { settle } from "./settle-call.ts";
import type { Watched } from "./watched.ts";

/** What is known of an exchange so far. */
interface Observed {
  readonly start: ExchangeStart;
  readonly rows: readonly Protocol[];
  readonly tenant: string;
  readonly marks: CallMarks;
  /** As it is sent; null for a body that is no call or was not read. */
  document: ReadDocument | null;
  isRead: boolean;
  /** Its body is on its way to the upstream. */
  isSent: boolean;
  prepared: Prepared | null;
  seeking: Seeking | null;
  /** Earlier bodies that may begin alike; null if they were not looked for. */
  known: readonly ReadDocument[] | null;
}

/** `rows`: the protocols that are spoken at this address. */
export function observe(
  start: ExchangeStart,
  rows: readonly Protocol[],
  shared: Watched,
): Observation {
  const tenant = `${start.upstream}\n${start.account}`;
  const marks = readMarks(start.headers);
  const begun = { document: null, isRead: false, isSent: false, prepared: null, seeking: null };
  const seen: Observed = { start, rows, tenant, marks, ...begun, known: null };
  let reply: ReplyReader | null = null;
  let responseBytes = 0;
  const findEarlier = (bytes: BodyBytes): BodyBytes | null => {
    seen.known = shared.conversations.documentsOf(tenant, marks, bytes.prints());
    return likest(bytes, seen.known.map(originalOf))?.grown?.scanned.bytes ?? null;
  };
  return {
    ...(isCoded(start.headers["content-encoding"]) ? {} : { keep: openRepeatedBytes(findEarlier) }),
    ...rewriting(seen, shared),
    requestBody: (pieces) => takeSent(seen, pieces, shared),
    responseHead: (status, headers) => {
      seen.prepared?.sent.turn?.begun();
      if (seen.document === null) return;
      const { protocol } = seen.document;
      const { limits, nowMs } = shared;
      reply = openReplyReader({ protocol, status, headers, nowMs, limits });
    },
    responseBytes: (bytes) => {
      responseBytes += bytes.byteLength;
      reply?.feed(bytes);
    },
    end: (end) => {
      const { document, prepared, seeking } = seen;
      prepared?.sent.turn?.begun();
      if (document === null) return;
      const named = addNames(marks, document.names);
      const call = { start, tenant, marks: named, document, end, responseBytes, prepared };
      const inTurn = (answer: SeenReply): void =>
        shared.turns.run(tenant, seeking?.done ?? null, () => settle(call, answer, shared));
      settleWith(end.how, reply, inTurn, shared);
    },
  };
}

function read(seen: Observed, pieces: readonly Uint8Array[], shared: Watched): ReadDocument | null {
  seen.isRead = true;
  seen.document = readRequestBody(pieces, seen, shared);
  return seen.document;
}

/** Nothing for a call that is sent as it is. */
function rewriting(seen: Observed, shared: Watched): Pick<Observation, "rewrite" | "waitMsMax"> {
  const { rewriter } = shared;
  if (rewriter === null || !rewriter.wants(seen.start, seen.marks)) return {};
  return {
    rewrite: (pieces) => rewrite(seen, pieces, { rewriter, shared }),
    waitMsMax: rewriter.waitMsMax,
  };
}

function rewrite(
  seen: Observed,
  pieces: readonly Uint8Array[],
  { rewriter, shared }: { readonly rewriter: CallRewriter; readonly shared: Watched },
): Rewritten | Promise<Rewritten> {
  const asked = read(seen, pieces, shared);
  if (asked === null) return null;
  const { start, tenant } = seen;
  const call = { start, marks: addNames(seen.marks, asked.names), document: asked };
  const readAgain = (other: readonly Uint8Array[]): ReadDocument | null =>
    readRequestBody(other, { ...seen, of: asked }, shared);
  const repaired = rewriter.repair({ ...call, read: readAgain });
  const seeking = seek({ ...call, tenant, document: repaired?.document ?? asked }, shared);
  seen.seeking = seeking;
  const prepare = (): Rewritten | Promise<Rewritten> => {
    // The client's own bytes are on their way already.
    if (seen.isSent) return null;
    const isUnsure = seeking?.isUnsure() ?? false;
    const prepared = prepareCall({ ...call, tenant, repaired, isUnsure }, rewriter, shared);
    [seen.prepared, seen.document] = [prepared, prepared.document];
    const { pieces: other, sent } = prepared;
    const mayGo = sent.turn?.mayGo ?? null;
    return mayGo === null ? other : mayGo.then(() => other ?? pieces);
  };
  return seeking === null ? prepare() : seeking.done.then(prepare);
}

/** The body as the upstream gets it. */
function takeSent(seen: Observed, pieces: readonly Uint8Array[] | null, shared: Watched): void {
  seen.isSent = true;
  const asked = pieces !== null && !seen.isRead ? read(seen, pieces, shared) : null;
  if (asked !== null) {
    const { start, tenant } = seen;
    const named = addNames(seen.marks, asked.names);
    seen.seeking = seek({ start, marks: named, tenant, document: asked }, shared);
  } else if (seen.prepared === null) seen.seeking?.noteLate();
  if (seen.prepared === null) return;
  seen.prepared = asSent(seen.prepared, pieces);
  seen.document = seen.prepared.document;
}

/** As its client sent it. */
function originalOf(document: ReadDocument): ReadDocument {
  return document.original ?? document;
}

/** At once, or when the rest of a compressed answer is unpacked. */
function settleWith(
  how: ExchangeEnd["how"],
  reply: ReplyReader | null,
  settleIt: (seen: SeenReply) => void,
  { onFault }: Watched,
): void {
  if (reply === null) return settleIt(seenNothing(how));
  let isLate = false;
  reply.end(how, (seen) => {
    if (!isLate) return settleIt(seen);
    try {
      settleIt(seen);
    } catch (error) {
      onFault(error);
    }
  });
  isLate = true;
}

interface Sent {
  readonly start: ExchangeStart;
  readonly tenant: string;
  readonly marks: CallMarks;
  readonly rows: readonly Protocol[];
  /** Earlier bodies that may begin alike; null if they were not looked for. */
  readonly known: readonly ReadDocument[] | null;
  /** The client's own body, if the bytes are made of it. */
  readonly of?: ReadDocument;
}

/** `marks`: with the names in the body. */
function seek(
  { start, tenant, marks, document }: Omit<CallToPrepare, "repaired" | "isUnsure">,
  { share, conversations }: Watched,
): Seeking | null {
  const { upstream } = start;
  return share?.seek({ tenant, upstream, marks, request: document.request }, conversations) ?? null;
}

/** Null for a body that is no model call or cannot be read: the upstream will say what is wrong with it. */
function readRequestBody(
  pieces: readonly Uint8Array[],
  { start, tenant, marks, rows, known: earlier, of }: Sent,
  { conversations, limits, counts, isVendor }: Watched,
): ReadDocument | null {
  const encoding = start.headers["content-encoding"];
  const whole = isCoded(encoding)
    ? decodeWhole(encoding, Buffer.concat(pieces), limits.bodyBytesMax)
    : null;
  if (isCoded(encoding) && whole === null) {
    counts.unreadBodies += 1;
    return null;
  }
  const bytes = new BodyBytes(whole === null ? pieces : [whole]);
  // A body is found by its client's own bytes.
  const prints = of?.prints ?? bytes.prints();
  const known = earlier ?? conversations.documentsOf(tenant, marks, prints);
  const before = of === undefined ? known.map(originalOf) : known;
  try {
    const found = readBody({
      bytes,
      prints,
      address: start,
      rows,
      before,
      isVendor: (protocol) => isVendor(start.upstream, protocol),
    });
    return found === null || of === undefined ? found : { ...found, original: of };
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    counts.unreadBodies += 1;
    return null;
  }
}
