// The Bedrock surface: Converse, InvokeModel and token counts for Claude, whole and as event streams.
import {
  noRetry,
  type Route,
  type SimRequest,
  type SimResponse,
  type Surface,
  type SurfaceContext,
} from "../surface.ts";
import { Refusal } from "../anthropic/refusal.ts";
import { exceptionFrame } from "./frames.ts";
import { countTokens } from "./count-tokens.ts";
import { invokeModel } from "./invoke-model.ts";
import { converse } from "./converse.ts";
import {
  AwsRefusal,
  newRequestId,
  passedOn,
  refusalOf,
  refusalResponse,
  type ExceptionName,
} from "./refusal.ts";
import { checkSignature, exampleAwsKey, signingScheme, type AwsKey } from "./sigv4.ts";

export interface BedrockOptions {
  /** The pairs that may sign. Default: the pair that AWS prints in its documents. */
  readonly keys?: readonly AwsKey[];
  /** Whether a signature's date is compared with the clock. Default: yes. */
  readonly checksDates?: boolean;
}

export function createBedrockSurface(options: BedrockOptions = {}): Surface {
  const { keys = [exampleAwsKey], checksDates = true } = options;
  return {
    name: "bedrock",
    authenticate: (request, { newId, nowMs }) => {
      try {
        return { key: keyOf(request, { keys, nowMs: checksDates ? nowMs : null }) };
      } catch (error) {
        if (!(error instanceof AwsRefusal)) throw error;
        return { refusal: refusalResponse(error, newRequestId(newId)) };
      }
    },
    fault: (fault, { newId }) => refusalResponse(refusalOf(fault), newRequestId(newId)),
    errorEvent: () =>
      exceptionFrame(
        "ModelStreamErrorException",
        "The system encountered an unexpected error during processing. Try your request again.",
      ),
    isClient: (headers) =>
      headers.has("x-amz-date") || headers.get("authorization")?.startsWith(signingScheme) === true,
    refuse: ({ status, message }, { newId }) => {
      const type = outerTypes[status];
      const response = refusalResponse({ type, message }, newRequestId(newId));
      return { ...response, headers: { ...response.headers, ...noRetry } };
    },
    routes: [
      route("converse", (request, requestId, context) =>
        converse(request, { requestId, stream: false }, context),
      ),
      route("converse-stream", (request, requestId, context) =>
        converse(request, { requestId, stream: true }, context),
      ),
      route("invoke", (request, requestId, context) =>
        invokeModel(request, { requestId, stream: false }, context),
      ),
      route("invoke-with-response-stream", (request, requestId, context) =>
        invokeModel(request, { requestId, stream: true }, context),
      ),
      route("count-tokens", (request, _requestId, context) => countTokens(request, context)),
    ],
  };
}

const outerTypes: Readonly<Record<404 | 413 | 500, ExceptionName>> = {
  404: "UnknownOperationException",
  413: "RequestEntityTooLargeException",
  500: "InternalServerException",
};

/** An API key stands for its own account; a signature for its pair, in the region it was made for. */
function keyOf(
  request: SimRequest,
  check: { readonly keys: readonly AwsKey[]; readonly nowMs: number | null },
): string {
  const authorization = request.headers.get("authorization") ?? "";
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  if (!authorization.startsWith(`${signingScheme} `))
    throw new AwsRefusal("MissingAuthenticationTokenException", "Missing Authentication Token");
  const { accessKeyId, region } = checkSignature(request, check);
  return `${accessKeyId} in ${region}`;
}

function route(
  operation: string,
  answer: (request: SimRequest, requestId: string, context: SurfaceContext) => SimResponse,
): Route {
  return {
    method: "POST",
    path: new RegExp(`/model/(?<model>[^/]+)/${operation}`),
    handle: (request, context) => {
      const requestId = newRequestId(context.newId);
      try {
        const response = answer(request, requestId, context);
        return { ...response, headers: { ...response.headers, "x-amzn-requestid": requestId } };
      } catch (error) {
        if (error instanceof AwsRefusal) return refusalResponse(error, requestId);
        if (error instanceof Refusal) return refusalResponse(passedOn(error, "invoke"), requestId);
        throw error;
      }
    },
  };
}
