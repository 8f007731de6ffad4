// Members of a body that may be spelled in two ways: systemInstruction, and system_instruction.
import * as json from "../../message/json-tree.ts";

/** By its first spelling; the other one counts too. */
export function memberIn(node: json.JsonNode | undefined, name: string): json.JsonNode | undefined {
  return json.memberOf(node, name) ?? json.memberOf(node, toSnake(name));
}

export function textIn(node: json.JsonNode | undefined, name: string): string | undefined {
  return json.textOf(node, name) ?? json.textOf(node, toSnake(name));
}

export function listIn(node: json.JsonNode | undefined, name: string): readonly json.JsonNode[] {
  const member = memberIn(node, name);
  return member?.kind === "list" ? member.items : [];
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
