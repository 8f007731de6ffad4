// Formats figures, the same for the page and the command.

/** $1,402.38; below a dollar with four decimals. */
export function formatUsd(dollars: number): string {
  const size = Math.abs(dollars);
  const [whole = "0", decimals = ""] = size.toFixed(size < 1 ? 4 : 2).split(".");
  return `${dollars < 0 ? "-" : ""}$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${decimals}`;
}

export function formatPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** 1234 sessions as 1,234 sessions. */
export function formatCount(count: number, what: string, whatMany = `${what}s`): string {
  return `${formatNumber(count)} ${count === 1 ? what : whatMany}`;
}

export function formatNumber(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
