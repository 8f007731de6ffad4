// What signing a request takes and gives.
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";

export interface UnsignedRequest {
  readonly method: "POST" | NonNullable<EncodedRequest["method"]>;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
}

/** Additional headers, such as a signature. Rejects if there are no credentials. */
export type Sign = (request: UnsignedRequest) => Promise<Readonly<Record<string, string>>>;
