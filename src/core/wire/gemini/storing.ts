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
import type { CallOptions, ProtocolStoring, StoredResource } from "../protocol.ts";
import { sentNameOf, storedMembers } from "./encode.ts";
import { isOnVertex } from "./schema.ts";

const pageSize = 1000;

/** What is asked of a prefix that has a name. */
const ofNames: Pick<
  ProtocolStoring,
  "mayBeGone" | "encodeExtend" | "encodeDelete" | "decodeStored" | "decodeList"
> = {
  // 403 on the Gemini API and 404 on Vertex; 400 for one that does not fit the request any more.
  mayBeGone: ({ kind }) =>
    kind === "permission" || kind === "not-found" || kind === "invalid-request",
  encodeExtend: (name, seconds) =>
    toRequest({
      method: "PATCH",
      path: `${pathOf(name)}?updateMask=ttl`,
      parts: [`{"ttl":"${seconds}s"}`],
    }),
  encodeDelete: (name) => toRequest({ method: "DELETE", path: pathOf(name), parts: [] }),
  decodeStored: (body) => readResource(parseFields(body)),
  decodeList: (body) => {
    const answer = parseFields(body);
    if (answer === undefined) return null;
    const listed = listIn(answer, "cachedContents").map((each) => readResource(fieldsOf(each)));
    const nextPageToken = textIn(answer, "nextPageToken") || null;
    return { resources: listed.filter((each) => each !== null), nextPageToken };
  },
};

export const storing: ProtocolStoring = storingIn(null);

/** On Vertex, names begin with the project and the location that the base URL ends with. */
function storingIn(project: string | null): ProtocolStoring {
  const collection = project === null ? "/v1beta/cachedContents" : "/cachedContents";
  return {
    ...ofNames,
    at: (basePath) => storingIn(projectAtEnd.exec(basePath)?.[1] ?? null),
    findObstacle: (call) => {
      if (project === null && isOnVertex(sentNameOf(call))) {
        return "on Vertex it belongs to a project, and the base URL does not end with a project and its location";
      }
      return findFixed(call.options);
    },
    encodeCreate: ({ label, seconds, ...prefix }) => {
      const parts = [
        `{"model":${JSON.stringify(modelIn(project, sentNameOf(prefix)))}`,
        ...storedMembers(prefix),
        `,"ttl":"${seconds}s","displayName":${JSON.stringify(label)}}`,
      ];
      return toRequest({ path: collection, parts });
    },
    encodeList: (pageToken) => {
      const page = pageToken === null ? "" : `&pageToken=${encodeURIComponent(pageToken)}`;
      return toRequest({
        method: "GET",
        path: `${collection}?pageSize=${pageSize}${page}`,
        parts: [],
      });
    },
  };
}

const projectAtEnd = /\/(projects\/[^/]+\/locations\/[^/]+)\/?$/;

function modelIn(project: string | null, name: string): string {
  if (project !== null && isOnVertex(name)) return `${project}/${name}`;
  return name.includes("/") ? name : `models/${name}`;
}

function findFixed({ toolChoice = "auto", extraJson = {} }: CallOptions): string | null {
  if (toolChoice !== "auto") return "calls have a tool choice, which a stored prefix fixes";
  const named = Object.keys(extraJson).find((name) => fixedMembers.has(name));
  return named === undefined ? null : `calls have ${named}, which a stored prefix fixes`;
}

/** What a request with a stored prefix may not set again. */
const fixedMembers: ReadonlySet<string> = new Set(["toolConfig", "tool_config"]);

/** `cachedContents/ID`; on Vertex below a project and a location, which the base URL has already. */
function pathOf(name: string): string {
  const [, id] = /^projects\/[^/]+\/locations\/[^/]+\/(.+)$/.exec(name) ?? [];
  const path = (id ?? name).split("/").map(encodeURIComponent).join("/");
  return `${id === undefined ? "/v1beta" : ""}/${path}`;
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
