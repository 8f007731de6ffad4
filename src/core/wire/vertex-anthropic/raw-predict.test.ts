import { describe, expect, test } from "vitest";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText, type EncodedRequest } from "../encoded-request.ts";
import { readRequest } from "../foreign/read-request.ts";
import type { CallOptions } from "../protocol.ts";
import { assemblyOn, plainOptions, planOf } from "../test-kit.ts";
import { vertexAnthropic as protocol } from "./index.ts";

const haiku: ModelFacts = resolveModel("vertex/claude-haiku-4-5").facts;

function encode(options: Partial<CallOptions> = {}): EncodedRequest {
  const assembly = assemblyOn({ protocol, model: haiku }, { system: ["Be brief."] });
  const plan = planOf({ 0: "5m" }, { requestMarker: "5m" });
  return protocol.encode({
    assembly,
    plan,
    model: haiku,
    options: { ...plainOptions, ...options },
  });
}

describe("a request", () => {
  test("is that of the Messages API, with the model in the path and the version in the body", () => {
    const request = encode({ stream: true, betas: ["one", "two"] });
    expect(bodyText(request.pieces)).toBe(
      '{"anthropic_version":"vertex-2023-10-16","max_tokens":100,"stream":true,' +
        '"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"cache_control":{"type":"ephemeral"}}',
    );
    expect([request.path, request.headers]).toEqual([
      "/models/claude-haiku-4-5@20251001:streamRawPredict",
      { "anthropic-beta": "one,two" },
    ]);
    expect(encode().path).toBe("/models/claude-haiku-4-5@20251001:rawPredict");
  });

  test("is counted at a path of its own, with the model in the body", () => {
    const counting = protocol.counting?.encode(encode({ temperature: 1 }));
    expect(counting?.path).toBe("/models/count-tokens:rawPredict");
    expect(bodyText(counting?.pieces ?? [])).toBe(
      '{"model":"claude-haiku-4-5@20251001","anthropic_version":"vertex-2023-10-16",' +
        '"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"cache_control":{"type":"ephemeral"}}',
    );
    expect(protocol.counting?.isAskedAt(counting?.path ?? "")).toBe(true);
    expect(protocol.counting?.isAskedAt("/models/claude-haiku-4-5:rawPredict")).toBe(false);
    expect(protocol.counting?.decode('{"input_tokens":9}')).toBe(9);
  });

  test("for a summary goes the same way", () => {
    const { facts: model } = resolveModel("vertex/claude-sonnet-5-5");
    const assembly = assemblyOn({ protocol, model }, {});
    const call = { assembly, plan: planOf(), model, options: plainOptions };
    const request = protocol.compaction?.encode(call);
    expect(request?.path).toBe("/models/claude-sonnet-5-5:rawPredict");
    expect(request?.headers).toEqual({ "anthropic-beta": "compact-2026-09-04" });
    expect(bodyText(request?.pieces ?? [])).toContain(',"compaction":{"type":"summarize"}}');
  });
});

test("a refusal in Google's words is read by its status", () => {
  expect(refuse(401, "UNAUTHENTICATED")).toEqual({ kind: "authentication", detail: "Told you." });
  expect(refuse(403, "PERMISSION_DENIED")).toEqual({ kind: "permission", detail: "Told you." });
  expect(refuse(429, "RESOURCE_EXHAUSTED")).toMatchObject({ kind: "rate-limited" });
});

describe("a request of another client, such as Claude Code", () => {
  const body = JSON.stringify({
    anthropic_version: "vertex-2023-10-16",
    max_tokens: 10,
    messages: [{ role: "user", content: "Hi." }],
    stream: true,
  });

  test("is read with the model, the project and the location of its path", () => {
    const name = "projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-5";
    const path = `https://us-east5-aiplatform.googleapis.com/v1/${name}:streamRawPredict`;
    const request = readRequest(body, { address: { path, headers: {} } });
    expect([request.protocol, request.model]).toEqual(["vertex-anthropic", name]);
    expect(resolveModel(request.model).facts).toMatchObject({
      id: "claude-opus-5",
      route: "vertex",
    });
  });

  test("is recognised without its path by the version in it", () => {
    expect(readRequest(body).protocol).toBe("vertex-anthropic");
  });

  test("of another publisher is none of Claude", () => {
    const path = "/v1/projects/p/locations/l/publishers/mistralai/models/large:rawPredict";
    expect(protocol.foreign.isSentTo({ path, headers: {} })).toBe(false);
  });
});

function refuse(status: number, name: string): unknown {
  const error = { code: status, message: "Told you.", status: name };
  const body = JSON.stringify({ error });
  return protocol.readFailure({ status, headers: {}, body, nowMs: 0 });
}
