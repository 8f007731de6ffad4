// The address after #: which view, of what, with which choices. Every view and choice has an address of its own.
import { signal } from "@preact/signals";

export interface Place {
  /** As in `#/session/abc?call=41`: the view, and what it is of. */
  readonly view: string;
  readonly of: string | null;
  readonly choices: ReadonlyMap<string, string>;
}

export function parsePlace(fragment: string): Place {
  const [path = "", search = ""] = fragment.replace(/^#?\/?/, "").split("?");
  const [view = "", of] = path.split("/");
  return {
    view: view === "" ? "now" : view,
    of: of === undefined || of === "" ? null : decode(of),
    choices: new Map(new URLSearchParams(search)),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function toFragment({ view, of, choices }: Place): string {
  const search = new URLSearchParams([...choices]).toString();
  return `#/${view}${of === null ? "" : `/${encodeURIComponent(of)}`}${search === "" ? "" : `?${search}`}`;
}

export function linkTo(
  view: string,
  of: string | null = null,
  choices: Readonly<Record<string, string>> = {},
): string {
  return toFragment({ view, of, choices: new Map(Object.entries(choices)) });
}

export const place = signal<Place>(parsePlace(location.hash));

addEventListener("hashchange", () => {
  place.value = parsePlace(location.hash);
});

/** To another place, which the back button leaves again. */
export function go(fragment: string): void {
  location.hash = fragment;
}

/** Null takes the choice away. The back button goes through views, not through every choice in one. */
export function choose(name: string, value: string | null): void {
  const choices = new Map(place.value.choices);
  if (value === null) choices.delete(name);
  else choices.set(name, value);
  const next = { ...place.value, choices };
  history.replaceState(null, "", toFragment(next));
  place.value = next;
}
