// Blocks that add or remove a tool in the middle of a conversation: the form of the Messages API, and Converse's.
import { fieldsIn, fieldsOf, parseFields, textIn, type Fields } from "../message/fields.ts";
import type { Block, JsonText, Message } from "../message/message.ts";

export interface ToolChange {
  readonly kind: "addition" | "removal";
  /** Undefined for one that is given with its whole definition, and for a server's whole set of tools. */
  readonly name: string | undefined;
  /** The MCP server that has the tool; undefined for a tool of the request. */
  readonly server: string | undefined;
  /** Whether it brings the tool's definition, which the request has not. */
  readonly defines: boolean;
}

/** What a block changes; undefined for any other block. */
export function readToolChange(block: Block): ToolChange | undefined {
  if (block.type !== "opaque") return undefined;
  const fields = parseFields(block.json) ?? {};
  const own = kindsOfType.get(textIn(fields, "type") ?? "");
  if (own !== undefined) return ofMessages(own, fieldsIn(fields, "tool"));
  const [member = "", ...others] = Object.keys(fields);
  const kind = others.length === 0 ? kindsOfMember.get(member) : undefined;
  if (kind === undefined) return undefined;
  const tool = fieldsIn(fieldsOf(fields[member]), "tool");
  return { kind, name: textIn(tool, "name"), server: textIn(tool, "serverName"), defines: false };
}

const kindsOfType: ReadonlyMap<string, ToolChange["kind"]> = new Map([
  ["tool_addition", "addition"],
  ["tool_removal", "removal"],
]);

const kindsOfMember: ReadonlyMap<string, ToolChange["kind"]> = new Map([
  ["toolAddition", "addition"],
  ["toolRemoval", "removal"],
]);

function ofMessages(kind: ToolChange["kind"], tool: Fields): ToolChange {
  const defines = textIn(tool, "type") === "tool_definition";
  const name = defines ? undefined : textIn(tool, "name");
  return { kind, name, server: textIn(tool, "server_name"), defines };
}

/** Why a change is not sent in this message to this model; null if it is. */
export function refuseToolChange({ role }: Message, takesToolChanges: boolean): string | null {
  if (!takesToolChanges) return "the model takes no change of its tools on its route";
  return role === "system" ? null : "only a system message may change the tools";
}

/** Undefined for a change that Converse cannot say. */
export function toConverseChange({ kind, name, server }: ToolChange): JsonText | undefined {
  if (name === undefined) return undefined;
  const member = kind === "addition" ? "toolAddition" : "toolRemoval";
  const ofServer = server === undefined ? "" : `,"serverName":${JSON.stringify(server)}`;
  return `{"${member}":{"tool":{"name":${JSON.stringify(name)}${ofServer}}}}`;
}

/** Undefined for a change without a name. */
export function toMessagesChange({ kind, name, server }: ToolChange): JsonText | undefined {
  if (name === undefined) return undefined;
  const type = server === undefined ? "tool_reference" : "mcp_tool_reference";
  const ofServer = server === undefined ? "" : `"server_name":${JSON.stringify(server)},`;
  return `{"type":"tool_${kind}","tool":{"type":"${type}",${ofServer}"name":${JSON.stringify(name)}}}`;
}
