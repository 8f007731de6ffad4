// Caching without a reply: the same request with max_tokens 0.
import { parseJsonTree, textOf } from "../../message/json-tree.ts";
import type { JsonText } from "../../message/message.ts";
import type { CallToEncode, ProtocolPrewarm } from "../protocol.ts";
import { encodeRequest } from "./encode.ts";
import { encodeOptions } from "./options.ts";

/** The provider refuses these together with max_tokens 0. Without them the prefix would be another one. */
export const prewarm: ProtocolPrewarm = {
  findObstacle: ({ assembly, plan, model, options }) => {
    if (plan.requestMarker !== null) return "a marker for the whole request";
    const hasTools = assembly.thread.foundation.tools.length > 0;
    const { members } = encodeOptions(options, model, { requestMarker: null, hasTools });
    if (typeOf(members.get("thinking")) === "enabled") return "thinking with a budget";
    const config = parseJsonTree(members.get("output_config") ?? "{}", "output_config");
    if (config.kind === "object" && config.members.has("format")) return "a schema of the reply";
    const choice = typeOf(members.get("tool_choice"));
    return choice === "any" || choice === "tool" ? "a tool that the model must call" : null;
  },
  encode: (call) => encodeRequest(withoutReply(call)),
};

function withoutReply(call: CallToEncode): CallToEncode {
  return { ...call, options: { ...call.options, outputTokensMax: 0, stream: false } };
}

function typeOf(json: JsonText = "{}"): string | undefined {
  return textOf(parseJsonTree(json, "an option"), "type");
}
