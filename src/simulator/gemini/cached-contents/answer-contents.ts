// cachedContents: prefixes that a client stores, keeps longer, lists and deletes.
import { toCallRecord } from "../../record-call.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../../surface.ts";
import { ApiError, invalid, jsonHeaders, ownWording } from "../api-error.ts";
import { findGeminiModel, readPage, toPageToken, type Way } from "../models.ts";
import { renderStored } from "../render/render.ts";
import { fields, readBody } from "../request/fields.ts";
import { readPromptPart } from "../request/read-request.ts";
import type { CachedContent, ContentStore } from "./content-store.ts";
import { checkModelName, nameIn, parentOf, withNumber } from "./names.ts";
import { readExpiry } from "./read-expiry.ts";

/** The lifetime if the client asks for none and the facts name none. */
const hourSeconds = 3_600;

export function createContent(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
): SimResponse {
  const { nowMs, workspace, newId } = context;
  const body = readBody(request.bodyText, "CachedContent");
  const model = fields.textAt(body, "model");
  checkModelName(model, request);
  const facts = findGeminiModel(model, way, request);
  const rules = facts.cache.stored;
  if (rules === null) throw invalid(`Model ${facts.id} does not store content. ${ownWording}`);
  const prompt = readPromptPart(body);
  const usualMs = (rules.defaultSeconds ?? hourSeconds) * 1000;
  const expiresMs = readExpiry(body, nowMs) ?? nowMs + usualMs;
  const { blocks, totalTokens } = renderStored(prompt, facts, context.counter);
  const minimum = rules.minimumTokens;
  if (minimum !== null && totalTokens < minimum) {
    throw invalid(
      `Cached content is too small. total_token_count=${totalTokens}, min_total_token_count=${minimum}`,
    );
  }
  const content: CachedContent = {
    name: `${parentOf(request)}cachedContents/${newId("").toLowerCase()}`,
    workspace,
    model,
    facts,
    displayName: fields.findText(body, "displayName"),
    prompt,
    tokens: totalTokens,
    createdMs: nowMs,
    updatedMs: nowMs,
    expiresMs,
    characters: request.bodyText.length,
  };
  store.put(content, nowMs);
  const { name } = content;
  const frame = { workspace, model: facts, settings: {} };
  const times = { startMs: nowMs, expiresMs };
  const open = context.billing.stored.add({ ...frame, ...times, name, id: newId(""), blocks });
  context.record(
    toCallRecord({
      surface: "gemini",
      facts,
      bill: open.bill,
      generated: { outputTokens: 0, thinkingTokens: 0 },
      stopReason: "stored",
      startMs: nowMs,
      priceShare: 1,
    }),
  );
  return { ...answer(describe(content)), bill: open };
}

export function showContent(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
): SimResponse {
  return answer(describe(contentAt(way, nameIn(request), context, store)));
}

/** A client's own, on Vertex of one location, in pages. What is not deleted shows here until it expires. */
export function listContents(
  _way: Way,
  request: SimRequest,
  { workspace, nowMs }: SurfaceContext,
  store: ContentStore,
): SimResponse {
  const { pageSize, start } = readPage(request.query, 100, 1_000);
  const parent = parentOf(request);
  const all = store.list(workspace, nowMs).filter(({ name }) => name.startsWith(parent));
  const next = start + pageSize;
  const page = all.slice(start, next);
  return answer({
    ...(page.length === 0 ? {} : { cachedContents: page.map(describe) }),
    ...(next < all.length ? { nextPageToken: toPageToken(next) } : {}),
  });
}

/** Only the expiry can change. */
export function updateContent(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
): SimResponse {
  const { nowMs, billing } = context;
  const content = contentAt(way, nameIn(request), context, store);
  const mask = request.query.get("updateMask") ?? request.query.get("update_mask") ?? "ttl";
  const masked = mask.split(",").map((path) => path.trim());
  if (!masked.every((path) => ["ttl", "expireTime", "expire_time", "expiration"].includes(path))) {
    throw invalid(`Only ttl and expire_time of a CachedContent can be updated. ${ownWording}`);
  }
  const expiresMs = readExpiry(readBody(request.bodyText, "CachedContent"), nowMs);
  if (expiresMs === null) return answer(describe(content));
  const updated = { ...content, expiresMs, updatedMs: nowMs };
  store.put(updated, nowMs);
  billing.stored.keepUntil(content.name, expiresMs, nowMs);
  return answer(describe(updated));
}

export function deleteContent(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
): SimResponse {
  const { name } = contentAt(way, nameIn(request), context, store);
  store.remove(name);
  context.billing.stored.remove(name, context.nowMs);
  return answer({});
}

/** The stored prefix that a call names. On Vertex it must be in the call's own location. */
export function contentOf(
  request: SimRequest,
  named: string,
  { way, context, store }: { way: Way; context: SurfaceContext; store: ContentStore },
): CachedContent {
  const name = withNumber(named);
  if (!name.startsWith(parentOf(request))) throw notFound(way, name);
  return contentAt(way, name, context, store);
}

/** The stored prefix of that name, or the provider's error: expired, deleted and another's look alike. */
function contentAt(
  way: Way,
  name: string,
  { workspace, nowMs }: SurfaceContext,
  store: ContentStore,
): CachedContent {
  const found = store.find(name, workspace, nowMs);
  if (found === null) throw notFound(way, name);
  return found;
}

function notFound(way: Way, name: string): ApiError {
  if (way === "gemini-api") {
    return new ApiError("PERMISSION_DENIED", "CachedContent not found (or permission denied)");
  }
  const id = name.slice(name.lastIndexOf("/") + 1);
  return new ApiError("NOT_FOUND", `Not found: cached content metadata for ${id}.`);
}

function describe(content: CachedContent): object {
  const { name, model, displayName, tokens } = content;
  return {
    name,
    model,
    createTime: new Date(content.createdMs).toISOString(),
    updateTime: new Date(content.updatedMs).toISOString(),
    expireTime: new Date(content.expiresMs).toISOString(),
    ...(displayName === null ? {} : { displayName }),
    usageMetadata: { totalTokenCount: tokens },
  };
}

function answer(body: object): SimResponse {
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(body, null, 2) };
}
