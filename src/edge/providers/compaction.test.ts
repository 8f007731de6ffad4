import { afterEach, expect, test } from "vitest";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { closeAll, openHttp, openProvider, textOf, toyProtocol, toyRequest } from "./test-kit.ts";

afterEach(closeAll);

const compactRequest: EncodedRequest = { ...toyRequest(), path: "/v1/toy/compact?n=1" };

const compacting: Protocol = {
  ...toyProtocol,
  compaction: {
    canStream: false,
    findObstacle: () => null,
    keepsPrefix: () => true,
    encode: () => compactRequest,
    decode: (body) => toyProtocol.decode(body.replace("long", "short")),
    messagesIn: () => [],
  },
};

test("a compaction has a path and a reading of its own, and other calls keep theirs", async () => {
  const paths: (string | undefined)[] = [];
  const server = await openHttp(({ url }, response) => {
    paths.push(url);
    response.end('{"text":"long"}');
  });
  const provider = openProvider(`${server.url}/v1`, { protocol: compacting });
  const call = { request: toyRequest(), stream: false };
  const compacted = await provider.send({
    ...call,
    request: compactRequest,
    purpose: "compaction",
  });
  const plain = await provider.send(call);
  expect(paths).toEqual(["/v1/toy/compact?n=1", "/v1/toy"]);
  expect([textOf(compacted.outcome), textOf(plain.outcome)]).toEqual(["short", "long"]);
});

test("a protocol without a compaction is not asked for one", async () => {
  const provider = openProvider("http://127.0.0.1:9");
  const sending = provider.send({ request: toyRequest(), stream: false, purpose: "compaction" });
  await expect(sending).rejects.toThrow("toy has no compaction");
});
