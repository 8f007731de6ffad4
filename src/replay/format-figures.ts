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

/** 12,345,678 as 12.3M, 45,678 as 45.7k. */
export function formatTokens(tokens: number): string {
  if (tokens >= 1_000_000) return `${(tokens / 1_000_000).toFixed(1)}M`;
  return tokens >= 1000 ? `${(tokens / 1000).toFixed(1)}k` : String(tokens);
}

export function formatDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.round(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
