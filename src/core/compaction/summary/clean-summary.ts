// Extracts the summary from a reply.

/** Removes the tags or fence that some models put around it, and analysis before it. */
export function cleanSummary(reply: string): string {
  const tagged = /<summary>([\s\S]*?)<\/summary>/.exec(reply)?.[1];
  const text = (tagged ?? reply.replace(/<analysis>[\s\S]*?<\/analysis>/g, "")).trim();
  const fenced = /^```\w*\n([\s\S]*)\n```$/.exec(text)?.[1];
  return (fenced ?? text).trim();
}
