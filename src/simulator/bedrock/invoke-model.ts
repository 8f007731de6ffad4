// InvokeModel, whole and as a stream: the body is that of the model's own API, and so is the reply.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { readCarried, replyFields } from "../anthropic/carried-request.ts";
import { answerMessages } from "../anthropic/create-message.ts";
import { messageEventData, messageText, type Outcome } from "../anthropic/reply/write-message.ts";
import type { MessagesRequest } from "../anthropic/request/read-request.ts";
import { JsonFault, readJson } from "../json-source.ts";
import { eventFrame, streamContentType } from "./frames.ts";
import { modelOf, type AddressedModel } from "./model-of.ts";
import { invalid } from "./refusal.ts";

export function invokeModel(
  { params, bodyText }: SimRequest,
  call: { readonly requestId: string; readonly stream: boolean },
  context: SurfaceContext,
): SimResponse {
  const { requestId, stream } = call;
  const request = readInvokeBody(bodyText, modelOf(params["model"] ?? ""), {
    purpose: "create",
    stream,
  });
  const { outcome, open } = answerMessages(
    request,
    { requestId, surface: "bedrock", idPrefix: "msg_bdrk_" },
    {
      ...context,
      newId: (prefix) => context.newId(prefix === "toolu_" ? "toolu_bdrk_" : prefix),
    },
    null,
  );
  if (!stream)
    return {
      status: 200,
      headers: { "content-type": "application/json", ...countHeaders(outcome) },
      body: messageText(outcome),
      bill: open,
    };
  return {
    status: 200,
    headers: {
      "content-type": streamContentType,
      "x-amzn-bedrock-content-type": "application/json",
    },
    body: { [Symbol.iterator]: () => chunks(outcome) },
    bill: open,
  };
}

export function readInvokeBody(
  bodyText: string,
  { facts }: AddressedModel,
  { purpose, stream }: { readonly purpose: "create" | "count"; readonly stream: boolean },
): MessagesRequest {
  return readCarried(
    { object: readObject(bodyText), path: "" },
    {
      facts,
      purpose,
      stream,
      firstVersion: "bedrock-2023-05-31",
      headerBetas: new Set(),
      own: purpose === "count" ? replyFields : [],
    },
  );
}

function readObject(bodyText: string): Extract<ReturnType<typeof readJson>, { kind: "object" }> {
  try {
    const object = readJson(bodyText);
    if (object.kind === "object") return object;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
  }
  throw invalid("Malformed input request, please reformat your input and try again.");
}

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly read: number;
  readonly written: number;
}

function countsOf({ bill, outputTokens }: Outcome): Counts {
  const written = Object.values(bill.writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return { input: bill.uncachedTokens, output: outputTokens, read: bill.readTokens, written };
}

function countHeaders(outcome: Outcome): Readonly<Record<string, string>> {
  const { input, output, read, written } = countsOf(outcome);
  return {
    "x-amzn-bedrock-input-token-count": String(input),
    "x-amzn-bedrock-output-token-count": String(output),
    "x-amzn-bedrock-cache-read-input-token-count": String(read),
    "x-amzn-bedrock-cache-write-input-token-count": String(written),
    "x-amzn-bedrock-invocation-latency": "0",
  };
}

/** One event of the model's own API each; AWS sends no pings, and adds its counts to the last. */
function* chunks(outcome: Outcome): Generator<Uint8Array> {
  for (const { name, data } of messageEventData(outcome)) {
    if (name === "ping") continue;
    const text = name === "message_stop" ? withMetrics(data, outcome) : data;
    const bytes = Buffer.from(text).toString("base64");
    yield eventFrame("chunk", JSON.stringify({ bytes }));
  }
}

function withMetrics(data: string, outcome: Outcome): string {
  const { input, output, read, written } = countsOf(outcome);
  const metrics = {
    inputTokenCount: input,
    outputTokenCount: output,
    invocationLatency: 0,
    firstByteLatency: 0,
    cacheReadInputTokenCount: read,
    cacheWriteInputTokenCount: written,
  };
  return `${data.slice(0, -1)},"amazon-bedrock-invocationMetrics":${JSON.stringify(metrics)}}`;
}
