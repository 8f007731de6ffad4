// A reply → the summary in it.

/** Without the tags or the fence that some models put around the whole, and without thoughts before them. */
export function cleanSummary(reply: string): string {
  const tagged = /<summary>([\s\S]*?)<\/summary>/.exec(reply)?.[1];
  const text = (tagged ?? reply.replace(/<analysis>[\s\S]*?<\/analysis>/g, "")).trim();
  const fenced = /^```\w*\n([\s\S]*)\n```$/.exec(text)?.[1];
  return (fenced ?? text).trim();
}
