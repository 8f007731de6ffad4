import { describe, expect, test } from "vitest";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText, type EncodedRequest } from "../encoded-request.ts";
import { gemini } from "./index.ts";
import { storing } from "./storing.ts";
import { assemblyOf, bodyOf, flash, readTool, say } from "./test-kit.ts";
import { plainOptions } from "../test-kit.ts";

const setting = {
  tools: [readTool],
  history: [say("user", "Hi."), say("assistant", "Hello.")],
  current: [],
};
const prefix = {
  assembly: assemblyOf(setting),
  model: flash,
  options: plainOptions,
  seconds: 600,
  label: "strata r1",
};

function shown({ method, path, pieces }: EncodedRequest): readonly string[] {
  return [method ?? "POST", path, bodyText(pieces)];
}

test("what is stored has the bytes of the request that would send it, and a label", () => {
  const blocks = prefix.assembly.sealed.length;
  const [method, path, body = ""] = shown(storing.encodeCreate({ ...prefix, blocks }));
  expect([method, path]).toEqual(["POST", "/v1beta/cachedContents"]);
  const sent = bodyOf(setting);
  const members = sent.slice(0, sent.indexOf(',"generationConfig"'));
  expect(body).toBe(
    `{"model":"models/gemini-3.8-flash",${members.slice(1)},"ttl":"600s","displayName":"strata r1"}`,
  );
});

test("tools and system text can be stored without the conversation", () => {
  const blocks = prefix.assembly.thread.foundation.blocks.length;
  const [, , body = ""] = shown(storing.encodeCreate({ ...prefix, blocks }));
  expect(Object.keys(JSON.parse(body) as object)).not.toContain("contents");
  expect(body).toContain('"functionDeclarations"');
});

test("a prefix is extended and deleted by its name, and listed in pages", () => {
  expect(shown(storing.encodeExtend("cachedContents/a b", 300))).toEqual([
    "PATCH",
    "/v1beta/cachedContents/a%20b?updateMask=ttl",
    '{"ttl":"300s"}',
  ]);
  expect(shown(storing.encodeDelete("cachedContents/x"))).toEqual([
    "DELETE",
    "/v1beta/cachedContents/x",
    "",
  ]);
  expect(shown(storing.encodeList(null))).toEqual([
    "GET",
    "/v1beta/cachedContents?pageSize=1000",
    "",
  ]);
  expect(shown(storing.encodeList("p/2"))[1]).toContain("&pageToken=p%2F2");
});

test("an answer names it, with its size and its times; what is missing is not known", () => {
  const created = {
    name: "cachedContents/x",
    displayName: "strata r1",
    createTime: "2026-11-18T12:00:00.123456Z",
    expireTime: "2026-11-18T12:10:00Z",
    usageMetadata: { totalTokenCount: 5000 },
  };
  const read = {
    name: "cachedContents/x",
    label: "strata r1",
    tokens: 5000,
    createdMs: Date.UTC(2026, 10, 18, 12, 0, 0, 123),
    expiresMs: Date.UTC(2026, 10, 18, 12, 10),
  };
  expect(storing.decodeStored(JSON.stringify(created))).toEqual(read);
  const bare = { name: "y", label: null, tokens: null, createdMs: null, expiresMs: null };
  expect(storing.decodeStored('{"name":"y","createTime":"soon"}')).toEqual(bare);
  expect(["{}", "[]", "<html>", '{"name":""}'].map((body) => storing.decodeStored(body))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(storing.decodeList("{}")).toEqual({ resources: [], nextPageToken: null });
  const page = { cachedContents: [created, {}, null], nextPageToken: "2" };
  expect(storing.decodeList(JSON.stringify(page))).toEqual({
    resources: [read],
    nextPageToken: "2",
  });
  expect(storing.decodeList("oops")).toBeNull();
});

function obstacle(options: object): string | null {
  return storing.findObstacle({ model: flash, options: { ...plainOptions, ...options } });
}

test("a call with settings that a stored prefix fixes cannot begin with one", () => {
  expect(obstacle({})).toBeNull();
  expect(obstacle({ toolChoice: "auto" })).toBeNull();
  expect(obstacle({ toolChoice: "any" })).toBe(
    "calls have a tool choice, which a stored prefix fixes",
  );
  expect(obstacle({ extraJson: { toolConfig: "{}" } })).toBe(
    "calls have toolConfig, which a stored prefix fixes",
  );
});

describe("on Vertex", () => {
  const project = "projects/p-1/locations/europe-west4";
  const here = storing.at(`/v1/${project}`);
  const model = resolveModel("vertex/gemini-3.8-flash").facts;

  test("a prefix is stored in the project and the location of the base URL, for the model's whole name", () => {
    const blocks = prefix.assembly.sealed.length;
    const [method, path, body = ""] = shown(here.encodeCreate({ ...prefix, model, blocks }));
    expect([method, path]).toEqual(["POST", "/cachedContents"]);
    expect(JSON.parse(body)).toMatchObject({
      model: `${project}/publishers/google/models/gemini-3.8-flash`,
      displayName: "strata r1",
      ttl: "600s",
    });
    expect(shown(here.encodeList("2"))).toEqual([
      "GET",
      "/cachedContents?pageSize=1000&pageToken=2",
      "",
    ]);
  });

  test("it is extended and deleted by its id, whatever the provider calls the project", () => {
    const name = "projects/123456789012/locations/europe-west4/cachedContents/77";
    expect(shown(here.encodeExtend(name, 300))[1]).toBe("/cachedContents/77?updateMask=ttl");
    expect(shown(here.encodeDelete(name))).toEqual(["DELETE", "/cachedContents/77", ""]);
  });

  test("a base URL without a project stores nothing", () => {
    const call = { model, options: plainOptions };
    expect(here.findObstacle(call)).toBeNull();
    expect(storing.at(`/v1/${project}/`).findObstacle(call)).toBeNull();
    const why =
      "on Vertex it belongs to a project, and the base URL does not end with a project and its location";
    expect(storing.findObstacle(call)).toBe(why);
    expect(storing.at(`/v1/${project}/publishers/google`).findObstacle(call)).toBe(why);
  });
});

test.each([
  [403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)", true],
  [404, "NOT_FOUND", "Not found: cached content metadata for x.", true],
  [429, "RESOURCE_EXHAUSTED", "Slow down.", false],
  [503, "UNAVAILABLE", "Busy.", false],
])("%i %s: it may be gone: %s", (status, name, message, mayBeGone) => {
  const body = JSON.stringify({ error: { code: status, message, status: name } });
  const failure = gemini.readFailure({ status, headers: {}, body, nowMs: 0 });
  expect(storing.mayBeGone(failure)).toBe(mayBeGone);
});
