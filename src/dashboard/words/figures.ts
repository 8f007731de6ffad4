// Figures as the dashboard writes them: one way each, with a unit.

export const unknown = "unknown";

/** As exact as a person can use: $1,402.38, $0.069, $0.0042. */
export function dollars(amount: number | null): string {
  if (amount === null || !Number.isFinite(amount)) return unknown;
  const size = Math.abs(amount);
  const sign = amount < 0 ? "−" : "";
  if (size !== 0 && size < 0.000_05) return `${sign}< $0.0001`;
  const decimals = size >= 1 || size === 0 ? 2 : size >= 0.01 ? 3 : 4;
  const [whole = "", part = ""] = size.toFixed(decimals).split(".");
  return `${sign}$${count(Number(whole))}.${part}`;
}

export function count(number: number): string {
  return String(Math.round(number)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** 1 call, 1,204 calls. */
export function counted(number: number, what: string, many = `${what}s`): string {
  return `${count(number)} ${number === 1 ? what : many}`;
}

export function tokens(number: number): string {
  return counted(number, "token");
}

/** 950, 12.4k, 50k, 1.2M: where there is no room. */
export function short(number: number): string {
  if (number < 1000) return String(Math.round(number));
  if (number < 999_950) return `${trim(number / 1000)}k`;
  return `${trim(number / 1_000_000)}M`;
}

function trim(number: number): string {
  return (number >= 100 ? number.toFixed(0) : number.toFixed(1)).replace(/\.0$/, "");
}

export function share(part: number | null): string {
  return part === null || !Number.isFinite(part) ? "–" : `${(part * 100).toFixed(1)} %`;
}

/** 8.4 s, 18 min, 2 h 5 min, 3 d 4 h. */
export function span(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** What is left of a lifetime: 54 min, 3:12. */
export function left(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds >= 600) return span(seconds * 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Money as the API writes it, as a number to draw and sort with. */
export function toDollars(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}
