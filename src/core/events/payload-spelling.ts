// Our values in the spelling of payloads, which operators query.
import { formatUsd } from "../models/pico-usd.ts";

/** Exact dollars as decimal text such as 0.0000125. Null means that no price is known. */
export function toUsd(pico: bigint): string;
export function toUsd(pico: bigint | null): string | null;
export function toUsd(pico: bigint | null): string | null {
  return pico === null ? null : formatUsd(pico).replace("$", "");
}
