// Prefixes that a client stores: what the provider takes and refuses, and what reads and storage cost.
import { describe, expect, test } from "vitest";
import { createSimulator } from "../simulator.ts";
import {
  createKit,
  errorOf,
  flash,
  hourMs,
  minuteMs,
  openingTokens,
  readTool,
  startMs,
  user,
  words,
  type Answered,
  type Body,
  type Kit,
} from "./test-kit.ts";

const head = {
  model: `models/${flash}`,
  systemInstruction: { parts: [{ text: words("Manual:", 5_000) }] },
  tools: [readTool],
};
const gone = [403, "PERMISSION_DENIED", "CachedContent not found (or permission denied)"];

function store(kit: Kit, more: object = {}): Body {
  const answered = kit.send("POST", "/v1beta/cachedContents", { ...head, ...more });
  if (answered.status !== 200) throw new Error(answered.text);
  return answered.json;
}

function ask(kit: Kit, cachedContent: string, more: object = {}): Answered {
  return kit.generate({ contents: [user("One?")], cachedContent, ...more });
}

function namesOf({ cachedContents }: Body): readonly string[] {
  return cachedContents.map(({ displayName }: Body) => displayName);
}

function storageOf(kit: Kit): readonly object[] {
  return kit.billing.stored.views(kit.nowMs);
}

describe("a stored prefix", () => {
  test("is described as the provider does", () => {
    const kit = createKit();
    const created = store(kit, { displayName: "manual", ttl: "300s" });
    expect(created).toEqual({
      name: "cachedContents/1",
      model: "models/gemini-3.8-flash",
      displayName: "manual",
      createTime: "2026-11-15T12:00:00.000Z",
      updateTime: "2026-11-15T12:00:00.000Z",
      expireTime: "2026-11-15T12:05:00.000Z",
      usageMetadata: { totalTokenCount: 6204 },
    });
    expect(kit.send("GET", "/v1beta/cachedContents/1").json).toEqual(created);
  });

  test("is read in full by requests that name it", () => {
    const kit = createKit();
    const { name, usageMetadata } = store(kit);
    const { json } = ask(kit, name);
    expect(json.usageMetadata).toMatchObject({
      promptTokenCount: usageMetadata.totalTokenCount + 7 + openingTokens,
      cachedContentTokenCount: usageMetadata.totalTokenCount,
    });
    expect(kit.prompts).toMatchObject([{ tools: [{ name: "read" }], turns: [{ text: "One?" }] }]);
    expect(kit.prompts[0]?.system).toContain("Manual:");
    expect(kit.records.map(({ bill }) => bill.reason)).toEqual([
      { kind: "stored prefix", name, isRead: false },
      { kind: "stored prefix", name, isRead: true },
    ]);
  });

  test("is paid for at the input price once, and a tenth of it for every read", () => {
    const kit = createKit();
    const { name } = store(kit);
    ask(kit, name);
    // 6,204 tokens at $0.75; then as many at $0.075, 10 at $0.75 and 6 at $3.75, per million.
    expect(kit.records.map(({ costUsd }) => costUsd)).toEqual(["$0.004653", "$0.0004953"]);
  });

  test("can hold contents, which come before those of the request", () => {
    const kit = createKit();
    const { name } = store(kit, { contents: [user("The file says 42.")] });
    ask(kit, name);
    expect(kit.prompts[0]?.turns).toMatchObject([
      { role: "user", text: "The file says 42.\nOne?" },
    ]);
  });

  test("is counted with the request that names it", () => {
    const kit = createKit();
    const { name, usageMetadata } = store(kit);
    const path = `/v1beta/models/${flash}:countTokens`;
    const request = { model: `models/${flash}`, contents: [user("One?")], cachedContent: name };
    expect(kit.send("POST", path, { generateContentRequest: request }).json).toMatchObject({
      totalTokens: usageMetadata.totalTokenCount + 7 + openingTokens,
      cachedContentTokenCount: usageMetadata.totalTokenCount,
    });
  });

  test("lives for an hour unless the client asks for another time", () => {
    const kit = createKit();
    expect(store(kit).expireTime).toBe("2026-11-15T13:00:00.000Z");
    const moment = store(kit, { expireTime: "2026-11-15T12:30:00Z" });
    expect(moment.expireTime).toBe("2026-11-15T12:30:00.000Z");
  });

  test("is gone the moment it expires", () => {
    const kit = createKit();
    const { name } = store(kit, { ttl: "60s" });
    kit.nowMs += minuteMs - 1;
    expect(ask(kit, name).status).toBe(200);
    kit.nowMs += 1;
    expect(errorOf(ask(kit, name))).toEqual(gone);
    expect(errorOf(kit.send("GET", `/v1beta/${name}`))).toEqual(gone);
    expect(errorOf(kit.send("PATCH", `/v1beta/${name}`, { ttl: "60s" }))).toEqual(gone);
    expect(kit.send("GET", "/v1beta/cachedContents").json).toEqual({});
  });

  test("is gone when it is deleted", () => {
    const kit = createKit();
    const { name } = store(kit);
    expect(kit.send("DELETE", `/v1beta/${name}`).json).toEqual({});
    expect(errorOf(ask(kit, name))).toEqual(gone);
    expect(errorOf(kit.send("DELETE", `/v1beta/${name}`))).toEqual(gone);
  });

  test("is there for its own key alone", () => {
    const kit = createKit();
    const { name } = store(kit);
    kit.workspace = "another";
    expect(errorOf(ask(kit, name))).toEqual(gone);
    expect(kit.send("GET", "/v1beta/cachedContents").json).toEqual({});
  });

  test("is kept longer by its ttl or its moment, and by nothing else", () => {
    const kit = createKit();
    const { name } = store(kit, { ttl: "60s" });
    kit.nowMs += 30_000;
    const path = `/v1beta/${name}?updateMask=`;
    expect(kit.send("PATCH", `${path}ttl`, { ttl: "120s" }).json).toMatchObject({
      createTime: "2026-11-15T12:00:00.000Z",
      updateTime: "2026-11-15T12:00:30.000Z",
      expireTime: "2026-11-15T12:02:30.000Z",
    });
    const moment = { expireTime: "2026-11-15T12:09:00Z" };
    expect(kit.send("PATCH", `${path}expireTime`, moment).json.expireTime).toBe(
      "2026-11-15T12:09:00.000Z",
    );
    expect(kit.send("PATCH", `${path}contents`, { ttl: "1s" }).status).toBe(400);
    kit.nowMs = startMs + 8 * minuteMs;
    expect(ask(kit, name).status).toBe(200);
  });

  test("shows in the list until it is gone, newest first, in pages", () => {
    const kit = createKit();
    for (const name of ["a", "b", "c"]) {
      store(kit, { displayName: name });
      kit.nowMs += 1;
    }
    const first = kit.send("GET", "/v1beta/cachedContents?pageSize=2").json;
    const rest = kit.send("GET", `/v1beta/cachedContents?pageToken=${first.nextPageToken}`).json;
    expect([namesOf(first), namesOf(rest), rest.nextPageToken]).toEqual([
      ["c", "b"],
      ["a"],
      undefined,
    ]);
  });
});

describe("on Vertex, a stored prefix", () => {
  const place = "projects/p/locations/l";
  const model = `${place}/publishers/google/models/${flash}`;
  const named = (kit: Kit): string =>
    kit.send("POST", `/v1/${place}/cachedContents`, { ...head, model }).json.name;

  test("is named after its project's number, and not found with 404", () => {
    const kit = createKit();
    const name = named(kit);
    expect(name).toBe("projects/460072532072/locations/l/cachedContents/1");
    const body = { contents: [user("One?")], cachedContent: name };
    const { usageMetadata } = kit.send("POST", `/v1/${model}:generateContent`, body).json;
    expect(usageMetadata.cachedContentTokenCount).toBe(6204);
    kit.send("DELETE", `/v1/${name}`);
    expect(errorOf(kit.send("GET", `/v1/${name}`))).toEqual([
      404,
      "NOT_FOUND",
      "Not found: cached content metadata for 1.",
    ]);
  });

  test("is found by the project's id and by its number, in its own location alone", () => {
    const kit = createKit();
    const name = named(kit);
    const askAt = (at: string, cachedContent: string): number =>
      kit.send("POST", `/v1/${at}/publishers/google/models/${flash}:generateContent`, {
        contents: [user("One?")],
        cachedContent,
      }).status;
    expect(askAt(place, `${place}/cachedContents/1`)).toBe(200);
    expect(askAt("projects/460072532072/locations/l", name)).toBe(200);
    expect(askAt("projects/p/locations/elsewhere", name)).toBe(404);
    expect(askAt(place, "cachedContents/1")).toBe(404);
    const listed = (location: string): Body =>
      kit.send("GET", `/v1/projects/p/locations/${location}/cachedContents`).json;
    expect(listed("l").cachedContents).toHaveLength(1);
    expect(listed("elsewhere")).toEqual({});
  });

  test("is made for a model named in full, in the same project and location", () => {
    const kit = createKit();
    const other = "projects/p/locations/elsewhere/publishers/google/models";
    for (const name of [flash, `models/${flash}`, `publishers/google/models/${flash}`, other]) {
      const answered = kit.send("POST", `/v1/${place}/cachedContents`, { ...head, model: name });
      const [status, kind, message] = errorOf(answered);
      expect([status, kind]).toEqual([400, "INVALID_ARGUMENT"]);
      expect(message).toContain("The model must be named projects/PROJECT/");
    }
  });
});

describe("storage", () => {
  test("is billed by tokens and hours for the time it lived, read or not", () => {
    const kit = createKit();
    const { name } = store(kit, { ttl: "7200s" });
    kit.nowMs += hourMs;
    const view = {
      name,
      workspace: "workspace",
      model: flash,
      tokens: 6204,
      writtenBy: "2",
      storedMs: startMs,
      expiresMs: startMs + 2 * hourMs,
    };
    // $0.50 per million tokens and hour.
    const first = { ...view, state: "live", billedMs: hourMs, costUsd: "$0.003102" };
    expect(storageOf(kit)).toEqual([first]);
    kit.send("DELETE", `/v1beta/${name}`);
    kit.nowMs += hourMs;
    expect(storageOf(kit)).toEqual([{ ...first, state: "removed" }]);
  });

  test("ends with the lifetime of a prefix that is never deleted", () => {
    const kit = createKit();
    store(kit);
    kit.nowMs += 24 * hourMs;
    expect(storageOf(kit)).toMatchObject([
      { state: "expired", billedMs: hourMs, costUsd: "$0.003102" },
    ]);
  });

  test("costs twice as much from 2027 on", () => {
    const kit = createKit();
    kit.nowMs = Date.UTC(2026, 11, 31, 23);
    store(kit, { ttl: "7200s" });
    kit.nowMs += 2 * hourMs;
    expect(storageOf(kit)).toMatchObject([{ costUsd: "$0.009306" }]);
  });

  test("is shown in the ledger and in the state, with what reads and storing cost", async () => {
    const simulator = createSimulator({ clock: "virtual", control: true, seed: 1 });
    const send = async (method: string, path: string, body?: object): Promise<Body> => {
      const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const answered = await simulator.fetch(`http://localhost${path}?key=x`, init);
      return answered.json();
    };
    const { name } = await send("POST", "/v1beta/cachedContents", head);
    const asked = { contents: [user("One?")], cachedContent: name };
    await send("POST", `/v1beta/models/${flash}:generateContent`, asked);
    await simulator.clock.advance(30 * minuteMs);
    const view = { name, tokens: 6204, state: "live", billedMs: 30 * minuteMs };
    const { calls, stored } = await send("GET", "/_sim/ledger");
    expect(stored).toMatchObject([{ ...view, costUsd: "$0.001551" }]);
    expect(calls).toMatchObject([
      { stopReason: "stored", tokens: { uncached: 6204, read: 0 }, why: `stored ${name}` },
      { stopReason: "STOP", tokens: { read: 6204, uncached: 10 }, why: `read ${name}` },
    ]);
    expect((await send("GET", "/_sim/state")).stored).toMatchObject([view]);
  });

  test("has no price for models whose price we do not know", () => {
    const kit = createKit();
    store(kit, { model: "models/gemini-2.5-flash" });
    expect(storageOf(kit)).toMatchObject([{ costUsd: null }]);
  });
});

describe("it is refused", () => {
  test.each<[string, object, string]>([
    [
      "to store less than the minimum",
      { systemInstruction: "short" },
      "Cached content is too small. total_token_count=51, min_total_token_count=4096",
    ],
    [
      "to store for a time without its unit",
      { ttl: "300" },
      "Invalid value at 'cached_content.ttl' (type.googleapis.com/google.protobuf.Duration), Field 'ttl', Illegal duration format; duration must end with 's'",
    ],
    [
      "to set both a time and a moment",
      { ttl: "300s", expireTime: "2026-11-15T13:00:00Z" },
      "Invalid value at 'cached_content' (oneof), oneof field 'expiration' is already set. Cannot set 'expireTime'",
    ],
    [
      "to store until a moment that has passed",
      { expireTime: "2026-11-15T12:00:00Z" },
      "The expiration of a CachedContent must be in the future. [simulator wording: the provider's text is not published]",
    ],
  ])("%s", (_name, more, message) => {
    const answered = createKit().send("POST", "/v1beta/cachedContents", { ...head, ...more });
    expect(errorOf(answered)).toEqual([400, "INVALID_ARGUMENT", message]);
  });

  test("to store for a model that is not served", () => {
    const body = { ...head, model: "models/gemini-0" };
    expect(createKit().send("POST", "/v1beta/cachedContents", body).status).toBe(404);
  });

  test.each([
    { systemInstruction: { parts: [{ text: "Be brief." }] } },
    { tools: [readTool] },
    { toolConfig: { functionCallingConfig: { mode: "NONE" } } },
  ])("to send a head of one's own with a stored prefix: %j", (more) => {
    const kit = createKit();
    const [status, name, message] = errorOf(ask(kit, store(kit).name, more));
    expect([status, name]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(message).toContain(
      "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.",
    );
  });

  test("to read it with another model", () => {
    const kit = createKit();
    const body = { contents: [user("One?")], cachedContent: store(kit).name };
    expect(errorOf(kit.generate(body, "gemini-3.7-flash"))).toEqual([
      400,
      "INVALID_ARGUMENT",
      "Model used by GenerateContent request (models/gemini-3.7-flash) and CachedContent (models/gemini-3.8-flash) has to be the same.",
    ]);
  });
});
