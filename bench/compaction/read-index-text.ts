// An index as a reader takes it: what stands there, and below a folder's line the paths it is meant for.

/**
 * Expands the paths of an index: `folder/: a b` means folder/a and folder/b; an indented line continues the folder of
 * the last line that is not indented. An identifier counts as found if the expanded text contains it.
 */
export function readIndexText(text: string): string {
  let outer = "";
  const lines = text.split("\n").map((line) => {
    const end = line.search(/[/\\]:(?: |$)/u);
    if (end === -1) return line;
    const isInner = line.startsWith(" ");
    const folder = (isInner ? outer + line.slice(1, end) : line.slice(0, end)) + (line[end] ?? "");
    if (!isInner) outer = folder;
    const names = line
      .slice(end + 2)
      .split(" ")
      .filter((name) => name !== "");
    return [folder, ...names.map((name) => folder + name)].join("\n");
  });
  return lines.join("\n");
}
