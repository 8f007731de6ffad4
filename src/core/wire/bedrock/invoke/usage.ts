// Usage is that of the Messages API.
export { findUsage, readUsage } from "../../anthropic-messages/usage.ts";
