// Adds the identifiers a summary lost, without a model.

export function addIdentifiers(summary: string, identifiers: readonly string[]): string {
  if (identifiers.length === 0) return summary;
  return `${summary}\n\nAlso named: ${identifiers.join(", ")}`;
}
