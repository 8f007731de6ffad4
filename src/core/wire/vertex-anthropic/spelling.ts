// Tools, system text and messages are written as for the Messages API.
export { toSpelling } from "../anthropic-messages/spelling.ts";
