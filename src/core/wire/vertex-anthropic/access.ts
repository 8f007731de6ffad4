// How to reach Claude on Vertex AI, which has no address without a project and a location.
import type { ProtocolAccess } from "../access.ts";

export const access: ProtocolAccess = {
  kind: "vertex-anthropic",
  baseUrl:
    "https://aiplatform.googleapis.com/v1/projects/example/locations/global/publishers/anthropic",
  isExample: true,
  key: { name: "authorization", prefix: "Bearer " },
  vendor: null,
};
