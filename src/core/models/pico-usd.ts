// Money as whole pico-dollars: $1 is 10^12, and $1 per million tokens is 1,000,000 per token. No floats.
import { StrataError } from "../strata-error.ts";

const digitsPerUsd = 12;
const digitsPerMTok = 6;

/** Converts a vendor's price, in dollars per million tokens, to pico-dollars per token. */
export function parseUsdPerMTok(value: unknown, place: string): bigint {
  const text = decimalText(value);
  const pico = text === null ? null : scaled(text, digitsPerMTok);
  if (pico === null)
    throw new StrataError(
      "config-invalid",
      `${place} is ${JSON.stringify(value) ?? "missing"}, but must be dollars per million tokens with at most 6 decimals`,
      `write ${place} as the vendor does, like 0.125`,
    );
  return pico;
}

/** The exact product with a decimal factor such as 1.25. Null if it is not a whole number of pico-dollars. */
export function timesDecimal(pico: bigint, factor: number | string): bigint | null {
  const text = decimalText(factor);
  const factorMillionths = text === null ? null : scaled(text, 6);
  if (factorMillionths === null) return null;
  const product = pico * factorMillionths;
  return product % 1_000_000n === 0n ? product / 1_000_000n : null;
}

/** An amount that a provider reports in dollars, to the nearest pico-dollar. */
export function toPicoUsd(usd: number): bigint {
  return BigInt(usd.toFixed(digitsPerUsd).replace(".", ""));
}

/** Dollars to the last digit, like "$0.0000125". */
export function formatUsd(pico: bigint): string {
  return withSign(pico, decimal(magnitude(pico), digitsPerUsd));
}

/**
 * Dollars for people, as `$1,402.38` and `$0.0123`: rounded half away from zero to `decimals`, by default four below a dollar and two
 * from there.
 */
export function formatUsdRounded(pico: bigint, decimals: number = usualDecimals(pico)): string {
  const [whole = "", fraction] = toUsdDecimal(pico, decimals).split(".");
  const digits = whole.replace("-", "").replace(/\B(?=(\d{3})+$)/g, ",");
  const text = fraction === undefined ? digits : `${digits}.${fraction}`;
  return whole.startsWith("-") ? `-$${text}` : `$${text}`;
}

/** The same for programs: without the sign of a dollar and without commas. */
export function toUsdDecimal(pico: bigint, decimals: number): string {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > digitsPerUsd)
    throw new StrataError(
      "input-invalid",
      `${decimals} is not a valid number of decimals`,
      `ask for a whole number from 0 to ${digitsPerUsd}`,
    );
  const unit = 10n ** BigInt(digitsPerUsd - decimals);
  const rounded = (magnitude(pico) + unit / 2n) / unit;
  const digits = rounded.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const text = decimals === 0 ? digits : `${whole}.${digits.slice(digits.length - decimals)}`;
  return rounded !== 0n && pico < 0n ? `-${text}` : text;
}

/** An amount that four decimals would round to a dollar has two. */
function usualDecimals(pico: bigint): number {
  return magnitude(pico) + 50_000_000n >= 1_000_000_000_000n ? 2 : 4;
}

/** A rate as vendors write it, in dollars per million tokens: "0.1", "12.5". */
export function toUsdPerMTok(picoPerToken: bigint): string {
  return decimal(picoPerToken, digitsPerMTok);
}

function decimalText(value: unknown): string | null {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && /^\d+(\.\d+)?$/.test(text) ? text : null;
}

function scaled(text: string, digits: number): bigint | null {
  const [whole = "", fraction = ""] = text.split(".");
  const needed = fraction.replace(/0+$/, "");
  return needed.length > digits ? null : BigInt(whole + needed.padEnd(digits, "0"));
}

function decimal(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, "0");
  const whole = text.slice(0, text.length - digits);
  const fraction = text.slice(text.length - digits).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function withSign(value: bigint, text: string): string {
  return value < 0n ? `-$${text}` : `$${text}`;
}

/**
 * The same value, which `JSON.stringify` takes: amounts in it are written as decimal text, except those in lists. A copy made by
 * spreading has to be marked again. `leftOut`: fields that are no JSON.
 */
export function withMoneyAsText<Value extends object>(
  value: Value,
  leftOut: readonly (keyof Value & string)[] = [],
): Value {
  const toJSON =
    leftOut.length === 0
      ? spellWhole
      : (): object => spellFields(value, (name) => !leftOut.some((each) => each === name));
  return Object.defineProperty(value, "toJSON", { value: toJSON, enumerable: false });
}

function spellWhole(this: object): object {
  return spellFields(this, () => true);
}

function spellFields(value: object, isShown: (name: string) => boolean): object {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isShown(name))
      .map(([name, each]: [string, unknown]) => [name, spellMoney(each)]),
  );
}

function spellMoney(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
  return isPlain && !("toJSON" in value) ? withMoneyAsText({ ...value }) : value;
}

/** Exact dollars as events spell them; null if the text is not an amount. */
export function parseUsdText(text: unknown): bigint | null {
  const parts = typeof text === "string" ? /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(text) : null;
  if (parts === null) return null;
  const pico = BigInt(`${parts[2] ?? "0"}${(parts[3] ?? "").padEnd(12, "0")}`);
  return parts[1] === "-" ? -pico : pico;
}
