// An index as a model reads it: names below their folder, other identifiers by kind, and how many were left out.
import type { IdentifierKind } from "./classify.ts";
import { groupFolders } from "./folders.ts";
import { groupOf, type Mention } from "./mention.ts";

/** Each identifier appears verbatim, as a name under its folder and that folder's parent, or as `owner.{one two}`. */
export function renderIndex(entries: readonly Mention[], leftOut: number): string {
  if (entries.length === 0) return leftOutLine(leftOut);
  const paths = entries.filter(({ kind }) => kind === "path").map(({ text }) => text);
  const others = groups.flatMap(({ title, kinds }) => {
    const texts = groupMembers(entries.filter(({ kind }) => kinds.includes(kind)));
    if (texts.length === 0) return [];
    return title === "Commands" ? ["Commands:", ...texts] : [`${title}: ${texts.join(" ")}`];
  });
  const folders = groupFolders(paths).flatMap(({ folder, names, below }) => [
    line(folder, names),
    ...below.map((inner) => ` ${line(inner.folder, inner.names)}`),
  ]);
  const heading = "Paths by folder; indented folders are inside the one above:";
  const lines = [...(paths.length === 0 ? [] : [heading]), ...folders, ...others];
  return [...lines, leftOutLine(leftOut)].filter((each) => each !== "").join("\n");
}

/** `owner.{one two}` for members of one owner, at the place of the first. */
function groupMembers(entries: readonly Mention[]): readonly string[] {
  const owners = new Map<string, string[]>();
  for (const entry of entries) {
    const owner = groupOf(entry);
    const key = owner === "" ? entry.text : owner;
    owners.set(key, [...(owners.get(key) ?? []), entry.text]);
  }
  return Array.from(owners, ([owner, [first = "", ...others]]) => {
    if (others.length === 0) return first;
    const names = [first, ...others].map((text) => text.slice(owner.length));
    return `${owner}{${names.join(" ")}}`;
  });
}

const groups: readonly { readonly title: string; readonly kinds: readonly IdentifierKind[] }[] = [
  { title: "Files", kinds: ["file"] },
  { title: "Symbols", kinds: ["symbol", "dotted", "constant"] },
  { title: "Names", kinds: ["name", "flag"] },
  { title: "Ids and values", kinds: ["id", "url", "host", "version", "code", "quantity"] },
  { title: "Commands", kinds: ["command"] },
];

function line(folder: string, names: readonly string[]): string {
  return [`${folder}:`, ...names].join(" ");
}

function leftOutLine(leftOut: number): string {
  return leftOut === 0 ? "" : `Left out: ${leftOut} less used`;
}
