// Formats figures, the same for the page and the command.

export function formatUsd(dollars: number): string {
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2).replace(/\B(?=(\d{3})+\.)/g, ",")}`;
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
