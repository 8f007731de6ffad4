// How to reach the Gemini API and others that speak its protocol.
import type { ProtocolAccess } from "../access.ts";

export const access: ProtocolAccess = {
  kind: "gemini",
  // Vertex: below a base URL with project and location, with an access token instead of a key.
  compatibleKind: "vertex-gemini",
  compatibleKey: { name: "authorization", prefix: "Bearer " },
  baseUrl: "https://generativelanguage.googleapis.com",
  key: { name: "x-goog-api-key", prefix: "" },
  vendor: {
    name: "google",
    keyVariable: "GEMINI_API_KEY",
    urlVariable: "GOOGLE_GEMINI_BASE_URL",
  },
};
