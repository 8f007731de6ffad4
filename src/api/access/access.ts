// Who asks: the owner of the gateway, or one of its virtual keys, which sees only its own rows.

export type Access = { readonly kind: "owner" } | { readonly kind: "key"; readonly name: string };

/** Limits rows of `calls c` to those that the asker may see. */
export function ownCalls(access: Access): {
  readonly sql: string;
  readonly values: readonly string[];
} {
  return access.kind === "owner"
    ? { sql: "", values: [] }
    : { sql: " AND c.gateway_key = ?", values: [access.name] };
}

export const owner: Access = { kind: "owner" };
