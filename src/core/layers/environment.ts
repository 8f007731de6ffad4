// What the agent can do here, in a few lines: capabilities by category, how to get a guide, credentials.

export interface Capability {
  readonly category: string;
  readonly name: string;
  readonly status: CapabilityStatus;
}

export const statuses = ["ready", "setup", "unavailable"] as const;

export type CapabilityStatus = (typeof statuses)[number];

/** What an agent can do where it works. */
export interface AgentEnvironment extends Partial<EnvironmentNotes> {
  readonly capabilities: readonly Capability[];
}

export interface EnvironmentNotes {
  readonly credentialCount: number;
  /** Configured credentials that do not work. */
  readonly brokenCredentials?: readonly string[];
  /** One sentence on how to get a capability's full guide. Blank for none. */
  readonly guideHint: string;
}

/** The same text for the same capabilities in any order. Null if there is nothing to say. */
export function describeEnvironment(
  capabilities: readonly Capability[],
  { credentialCount, brokenCredentials = [], guideHint }: EnvironmentNotes,
): string | null {
  const paragraphs = [
    capabilities.length === 0 ? "" : [legend, ...describeCategories(capabilities)].join("\n"),
    guideHint.trim(),
    describeCredentials(credentialCount, brokenCredentials),
  ].filter((paragraph) => paragraph !== "");
  return paragraphs.length === 0 ? null : ["## Environment", ...paragraphs].join("\n\n");
}

/** The text of an environment. Null if there is nothing to say. */
export function environmentText({ capabilities, ...notes }: AgentEnvironment): string | null {
  return describeEnvironment(capabilities, { credentialCount: 0, guideHint: "", ...notes });
}

/** The part that a task needs: capabilities by name or by category. `unknown`: names that are neither. */
export function scopeEnvironment(
  { capabilities, ...notes }: AgentEnvironment,
  scope: readonly string[],
): { readonly environment: AgentEnvironment; readonly unknown: readonly string[] } {
  return {
    environment: {
      ...notes,
      capabilities: capabilities.filter((each) => scope.some((wanted) => fits(each, wanted))),
    },
    unknown: scope.filter((wanted) => !capabilities.some((each) => fits(each, wanted))),
  };
}

function fits({ name, category }: Capability, wanted: string): boolean {
  return [name, category].some((each) => each.toLowerCase() === wanted.trim().toLowerCase());
}

const glyphs: Readonly<Record<CapabilityStatus, string>> = {
  ready: "✅",
  setup: "🔧",
  unavailable: "⛔",
};

const legend = `Capabilities (${glyphs.ready} ready, ${glyphs.setup} needs setup, ${glyphs.unavailable} unavailable):`;

function describeCategories(capabilities: readonly Capability[]): string[] {
  return sortedNames(capabilities.map(({ category }) => category)).map((category) => {
    const members = capabilities.filter((capability) => capability.category === category);
    const groups = statuses.flatMap((status) => {
      const names = sortedNames(
        members.filter((capability) => capability.status === status).map(({ name }) => name),
      );
      return names.length === 0 ? [] : [`${names.join(", ")} ${glyphs[status]}`];
    });
    return `${category}: ${groups.join(" | ")}`;
  });
}

function describeCredentials(count: number, broken: readonly string[]): string {
  if (count === 0 && broken.length === 0) return "";
  const names = sortedNames(broken);
  const trouble = names.length === 0 ? "" : `, ${names.length} broken (${names.join(", ")})`;
  return `Credentials: ${count} configured${trouble}`;
}

/** Each name once, in code unit order: the order must not depend on a locale. */
function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}
