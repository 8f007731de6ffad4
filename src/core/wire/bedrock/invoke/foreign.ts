// Recognises and reads requests of the Messages API that go to Bedrock. The path names the model.
import { foreign as messages } from "../../anthropic-messages/foreign.ts";
import type { ForeignReader } from "../../foreign/foreign-reader.ts";
import * as json from "../../../message/json-tree.ts";
import { readModelPath } from "../model-path.ts";

export const foreign: ForeignReader = {
  ...messages,
  isSentTo: ({ path }) => readModelPath(path)?.action.startsWith("invoke") === true,
  // Requests to Vertex have a version of their own.
  hasSigns: (body) => {
    const version = json.textOf(body, "anthropic_version");
    return version !== undefined && !version.startsWith("vertex");
  },
  otherNames: /bedrock/,
  modelOf: ({ path, body }) => readModelPath(path)?.model ?? json.textOf(body, "model") ?? "",
};
