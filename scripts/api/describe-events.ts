// The catalogue as a document, so that there is only one to maintain.
import { eventTypes, specOf, type EventType } from "../../src/core/events/event-catalogue.ts";
import type { FieldSpec } from "../../src/core/events/field-kinds.ts";

/** Markdown: a table of the types, then each payload. */
export function describeEvents(): string {
  return [
    "| type | emitted when | actor | sensitivity | audit |",
    "| --- | --- | --- | --- | --- |",
    ...eventTypes.map(describeType),
    "",
    "## Payloads",
    "",
    ...eventTypes.flatMap((type) => [
      `### \`${type}\``,
      "",
      "| field | holds |",
      "| --- | --- |",
      ...describePayload(type),
      "",
    ]),
  ].join("\n");
}

function describeType(type: EventType): string {
  const { when, actor, sensitivity, audit } = specOf(type);
  return `| \`${type}\` | ${when} | ${actor} | ${sensitivity} | ${audit === true ? "yes" : ""} |`;
}

function describePayload(type: EventType): string[] {
  return Object.entries(specOf(type).payload).map(
    ([name, spec]) => `| \`${name}\` | ${describeField(spec)} |`,
  );
}

function describeField(spec: FieldSpec): string {
  if (typeof spec !== "string") {
    return spec.map((value) => (value === null ? "null" : `\`${value}\``)).join(", ");
  }
  return spec.endsWith("?") ? `${spec.slice(0, -1)}, may be missing` : spec;
}
