// How to reach Amazon Bedrock, which has no address without a region.
import type { ProtocolAccess } from "../access.ts";

const shared: Omit<ProtocolAccess, "kind"> = {
  baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com",
  isExample: true,
  key: { name: "authorization", prefix: "Bearer " },
  vendor: null,
};

export const converseAccess: ProtocolAccess = { ...shared, kind: "bedrock" };

export const invokeAccess: ProtocolAccess = { ...shared, kind: "bedrock-invoke" };
