// Who asks: the owner of the gateway, or one of its virtual keys, which sees only its own rows.

export type Access = { readonly kind: "owner" } | { readonly kind: "key"; readonly name: string };

export const owner: Access = { kind: "owner" };
