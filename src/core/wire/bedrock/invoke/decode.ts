// A whole answer is one of the Messages API.
export { decodeReply } from "../../anthropic-messages/decode.ts";
