// The policies by name: one list for the file that names one and for the planner that has them.

export const policyNames = [
  "adaptive",
  "metis",
  "nexo",
  "hermes",
  "nexus",
  "tail-5m",
  "tail-1h",
  "automatic",
  "latest-user",
  "last-n",
  "system-only",
  "none",
] as const;

export type PolicyName = (typeof policyNames)[number];
