// The errors of AWS: an exception's name in a header, its message in the body.
import { hashText } from "../ids.ts";
import type { HttpFault, SimResponse } from "../surface.ts";
import { isPromptTooLong, type Refusal } from "../anthropic/refusal.ts";

const statusOf = {
  SerializationException: 400,
  ValidationException: 400,
  AccessDeniedException: 403,
  IncompleteSignatureException: 403,
  InvalidSignatureException: 403,
  MissingAuthenticationTokenException: 403,
  UnrecognizedClientException: 403,
  UnknownOperationException: 404,
  ModelTimeoutException: 408,
  RequestEntityTooLargeException: 413,
  ModelErrorException: 424,
  ThrottlingException: 429,
  InternalServerException: 500,
  ServiceUnavailableException: 503,
} as const;

export type ExceptionName = keyof typeof statusOf;

/** Thrown while reading a request, caught once per route. */
export class AwsRefusal extends Error {
  readonly type: ExceptionName;

  constructor(type: ExceptionName, message: string) {
    super(message);
    this.name = "AwsRefusal";
    this.type = type;
  }
}

export function invalid(message: string): AwsRefusal {
  return new AwsRefusal("ValidationException", message);
}

/** For errors whose text is not published: the message says that it is ours. */
export function invented(message: string): AwsRefusal {
  return invalid(`${message} [simulator wording: the provider's text is not published]`);
}

export function notSimulated(what: string): AwsRefusal {
  return invalid(`${what}: not simulated`);
}

export const tooLong: AwsRefusal = invalid("Input is too long for requested model.");

/** What the model's own API refused, as AWS passes it on: Converse says where it comes from. */
export function passedOn(refusal: Refusal, api: "converse" | "invoke"): AwsRefusal {
  if (isPromptTooLong(refusal)) return tooLong;
  const { message } = refusal;
  return invalid(
    api === "invoke" ? message : `The model returned the following errors: ${message}`,
  );
}

export function refusalResponse(
  { type, message }: Pick<AwsRefusal, "type" | "message">,
  requestId: string,
): SimResponse {
  return {
    status: statusOf[type],
    headers: {
      "content-type": "application/json",
      "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      "x-amzn-requestid": requestId,
    },
    body: JSON.stringify({ message }),
  };
}

/** Ids of requests are UUIDs on AWS. */
export function newRequestId(newId: (prefix: string) => string): string {
  const hex = Buffer.from(hashText(newId("")), "base64url").toString("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`];
  return [...parts, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

export function refusalOf(fault: HttpFault): AwsRefusal {
  switch (fault.kind) {
    case "rate limited":
      return new AwsRefusal(
        "ThrottlingException",
        "Too many requests, please wait before trying again.",
      );
    case "server error":
      return new AwsRefusal(
        "InternalServerException",
        "The system encountered an unexpected error during processing. Try your request again.",
      );
    case "overloaded":
      return new AwsRefusal(
        "ServiceUnavailableException",
        "Bedrock is unable to process your request.",
      );
    case "model timeout":
      return new AwsRefusal(
        "ModelTimeoutException",
        "Model has timed out in processing the request. Try your request again.",
      );
    case "model error":
      return new AwsRefusal(
        "ModelErrorException",
        "The system encountered an unexpected error during processing. Try your request again.",
      );
    case "overflow":
      return tooLong;
  }
}
