// The headers of a request and those somebody configured, as one list. Names in lower case.

type Headers = Readonly<Record<string, string>>;

/** What is configured goes before what the request says; features that both ask for are asked for together (N-13). */
export function joinHeaders(ofRequest: Headers, configured: Headers): Headers {
  const joined = Object.entries(configured).map(([name, value]) => {
    const own = ofRequest[name];
    return [name, own === undefined || !isList(name) ? value : joinLists(own, value)];
  });
  return { ...ofRequest, ...Object.fromEntries(joined) };
}

/** Providers name features in a header of theirs that ends so, with commas between them. */
function isList(name: string): boolean {
  return name.endsWith("-beta");
}

function joinLists(...lists: readonly string[]): string {
  const names = lists.flatMap((list) => list.split(",")).map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "").join(",");
}
