import { afterEach, expect, test } from "vitest";
import { closeAll, openHttp, openProvider, toyRequest } from "./test-kit.ts";

afterEach(closeAll);

test.each([
  ["x-bad", "b\u2603ta"],
  ["transfer-encoding", "chunked"],
  ["upgrade", "x"],
  ["expect", "100-continue"],
])(
  "a request with a header %s that cannot be sent fails, and is not tried again",
  async (name, value) => {
    let calls = 0;
    const server = await openHttp((_request, response) => {
      calls += 1;
      response.end('{"text":"hi"}');
    });
    const request = { ...toyRequest("{}"), headers: { [name]: value } };
    const { outcome, attempts } = await openProvider(server.url).send({ request, stream: false });
    expect(outcome).toMatchObject({
      kind: "invalid-request",
      detail: expect.stringContaining("it cannot be sent"),
    });
    expect({ calls, attempts: attempts.length }).toEqual({ calls: 0, attempts: 1 });
  },
);
