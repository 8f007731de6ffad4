// A stream is one of the Messages API.
export { streamDecoder } from "../anthropic-messages/stream.ts";
