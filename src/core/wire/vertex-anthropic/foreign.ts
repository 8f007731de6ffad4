// Recognises and reads requests of the Messages API that go to Vertex. The path names the model.
import { foreign as messages } from "../anthropic-messages/foreign.ts";
import type { ForeignReader } from "../foreign/foreign-reader.ts";
import * as json from "../../message/json-tree.ts";
import { readModelPath } from "./model-path.ts";

export const foreign: ForeignReader = {
  ...messages,
  isSentTo: ({ path }) => readModelPath(path) !== null,
  hasSigns: (body) => json.textOf(body, "anthropic_version")?.startsWith("vertex") === true,
  otherNames: /vertex.*(?:anthropic|claude)/,
  modelOf: ({ path, body }) => readModelPath(path) ?? json.textOf(body, "model") ?? "",
};
