// Goal: refusals that may pass are tried again as the providers' own SDKs do. Method: a server refuses once.
import { afterEach, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { toRequest } from "../../core/wire/encoded-request.ts";
import { anthropicEndpoint } from "../../core/wire/anthropic-messages/access.ts";
import { createProvider } from "./provider.ts";
import { closeAll, closeLater, openHttp } from "./test-kit.ts";

afterEach(closeAll);

const reply = JSON.stringify({
  type: "message",
  content: [{ type: "text", text: "hi" }],
  usage: { input_tokens: 1, output_tokens: 1 },
});

test.each([
  [408, {}, [408, 200]],
  [409, {}, [409, 200]],
  [400, {}, [400]],
  [400, { "x-should-retry": "true" }, [400, 200]],
  [500, { "x-should-retry": "false" }, [500]],
  [500, { "x-should-retry": "maybe" }, [500, 200]],
])("a refusal with %i and %o ends in the attempts %j", async (status, headers, statuses) => {
  let asked = 0;
  const server = await openHttp((_request, response) => {
    asked += 1;
    if (asked === 1) response.writeHead(status, headers).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(reply);
  });
  const provider = closeLater(
    createProvider({
      protocol: anthropicMessages,
      ...anthropicEndpoint({ apiKey: plantedKey, baseUrl: server.url }),
      retries: { backoffMsBase: 1 },
    }),
  );
  const { attempts } = await provider.send({
    request: toRequest({ path: "/v1/messages", parts: ["{}"] }),
    stream: false,
  });
  expect(attempts.map((attempt) => attempt.status)).toEqual(statuses);
});
