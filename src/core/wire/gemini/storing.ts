// Prefixes kept under a name: the requests of cachedContents and their answers.
import {
  fieldsIn,
  fieldsOf,
  isCount,
  listIn,
  parseFields,
  textIn,
  type Fields,
} from "../../message/fields.ts";
import { toMs } from "../../models/moment.ts";
import { toRequest } from "../encoded-request.ts";
import type { ProtocolStoring, StoredResource } from "../protocol.ts";
import { sentNameOf, storedMembers } from "./encode.ts";
import { isOnVertex } from "./schema.ts";

const collection = "/v1beta/cachedContents";
const pageSize = 1000;

export const storing: ProtocolStoring = {
  findObstacle: ({ model, options }) => {
    if (isOnVertex(sentNameOf({ model, options }))) {
      return "on Vertex it needs the model's name with its project, which calls do not have";
    }
    const { toolChoice = "auto", extraJson = {} } = options;
    if (toolChoice !== "auto") return "calls have a tool choice, which a stored prefix fixes";
    const named = Object.keys(extraJson).find((name) => fixedMembers.has(name));
    return named === undefined ? null : `calls have ${named}, which a stored prefix fixes`;
  },
  // 403 on the Gemini API and 404 on Vertex; 400 for one that does not fit the request any more.
  mayBeGone: ({ kind }) =>
    kind === "permission" || kind === "not-found" || kind === "invalid-request",
  encodeCreate: ({ label, seconds, ...prefix }) => {
    const name = sentNameOf(prefix);
    const model = name.includes("/") ? name : `models/${name}`;
    const parts = [
      `{"model":${JSON.stringify(model)}`,
      ...storedMembers(prefix),
      `,"ttl":"${seconds}s","displayName":${JSON.stringify(label)}}`,
    ];
    return toRequest({ path: collection, parts });
  },
  encodeExtend: (name, seconds) =>
    toRequest({
      method: "PATCH",
      path: `${pathOf(name)}?updateMask=ttl`,
      parts: [`{"ttl":"${seconds}s"}`],
    }),
  encodeDelete: (name) => toRequest({ method: "DELETE", path: pathOf(name), parts: [] }),
  encodeList: (pageToken) => {
    const page = pageToken === null ? "" : `&pageToken=${encodeURIComponent(pageToken)}`;
    return toRequest({
      method: "GET",
      path: `${collection}?pageSize=${pageSize}${page}`,
      parts: [],
    });
  },
  decodeStored: (body) => readResource(parseFields(body)),
  decodeList: (body) => {
    const answer = parseFields(body);
    if (answer === undefined) return null;
    const listed = listIn(answer, "cachedContents").map((each) => readResource(fieldsOf(each)));
    const nextPageToken = textIn(answer, "nextPageToken") || null;
    return { resources: listed.filter((each) => each !== null), nextPageToken };
  },
};

/** What a request with a stored prefix may not set again. */
const fixedMembers: ReadonlySet<string> = new Set(["toolConfig", "tool_config"]);

/** Its name is `cachedContents/ID`. */
function pathOf(name: string): string {
  return `/v1beta/${name.split("/").map(encodeURIComponent).join("/")}`;
}

function readResource(fields: Fields | undefined): StoredResource | null {
  const name = fields && textIn(fields, "name");
  if (fields === undefined || name === undefined || name === "") return null;
  const tokens = fieldsIn(fields, "usageMetadata")["totalTokenCount"];
  return {
    name,
    label: textIn(fields, "displayName") ?? null,
    tokens: isCount(tokens) ? tokens : null,
    createdMs: toMs(textIn(fields, "createTime") ?? ""),
    expiresMs: toMs(textIn(fields, "expireTime") ?? ""),
  };
}
