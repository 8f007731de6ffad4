// Sends another body where a client sent its own, with the client's headers, and reads the whole answer.
import type { IncomingMessage } from "node:http";
import type { Dispatcher } from "undici";
import type { Resend, ResentAnswer } from "../exchange.ts";
import type { Target } from "../upstreams/upstream-table.ts";
import type { UpstreamDispatcher } from "./forward-exchange.ts";
import { passRequestHeaders, toHeaderRecord, toRawHeaders } from "./pass-headers.ts";

export interface SendAgainOptions {
  readonly dispatcher: UpstreamDispatcher;
  readonly target: Target;
  readonly firstByteMsMax: number;
}

/** The headers are those of the client at that time, its key among them. */
export function createResend(
  { method = "POST", rawHeaders }: Pick<IncomingMessage, "method" | "rawHeaders">,
  { dispatcher, target, firstByteMsMax }: SendAgainOptions,
): Resend {
  const without = new Set([...(target.without ?? []), ...ofTheBody]);
  const kept = passRequestHeaders(rawHeaders, { headers: target.headers, without });
  return (body, signal) =>
    new Promise((resolve, reject) => {
      const whole = Buffer.concat(body);
      const request = {
        origin: target.origin,
        path: target.path,
        method,
        headers: [...kept, "content-length", String(whole.length)],
        body: whole,
        headersTimeout: firstByteMsMax,
        bodyTimeout: firstByteMsMax,
      };
      dispatcher.dispatch(request, collect(signal, resolve, reject));
    });
}

/** Long enough for the usage of a call without a reply, and for an error. */
const answerBytesMax = 1024 * 1024;

/** They say what is in the client's own body, or how its answer may be written. */
const ofTheBody: readonly string[] = ["content-length", "accept-encoding"];

function collect(
  signal: AbortSignal,
  resolve: (answer: ResentAnswer) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  const pieces: Buffer[] = [];
  let [status, byteLength] = [0, 0];
  let headers: ResentAnswer["headers"] = {};
  let abort: (() => void) | null = null;
  // The signal lives as long as the gateway, and must not hold this request with its key.
  const letGo = (): void => {
    if (abort !== null) signal.removeEventListener("abort", abort);
  };
  return {
    onRequestStart: (controller) => {
      abort = () => controller.abort(new Error("the gateway stops"));
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    },
    onResponseStart: (controller, code) => {
      if (code < 200) return;
      [status, headers] = [code, toHeaderRecord(toRawHeaders(controller.rawHeaders))];
    },
    onResponseData: (controller, bytes) => {
      byteLength += bytes.byteLength;
      if (byteLength > answerBytesMax) controller.abort(new Error("the answer is too long"));
      else pieces.push(bytes);
    },
    onResponseEnd: () => {
      letGo();
      resolve({ status, headers, bytes: Buffer.concat(pieces) });
    },
    onResponseError: (_controller, error) => {
      letGo();
      reject(error);
    },
  };
}
