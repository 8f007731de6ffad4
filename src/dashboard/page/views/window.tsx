// Choices that several views have: a window of time, a grouping, words to search for.
import type { JSX } from "preact";
import { choose, place } from "../app/route.ts";

const windows = [
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
  ["30d", "last 30 days"],
  ["365d", "last year"],
] as const;

export function chosenWindow(): string {
  const from = place.value.choices.get("from");
  return windows.find(([value]) => value === from)?.[0] ?? "7d";
}

export function windowName(): string {
  return windows.find(([value]) => value === chosenWindow())?.[1] ?? "";
}

export function WindowChoice(): JSX.Element {
  return <Choice name="from" label="time" value={chosenWindow()} options={windows} />;
}

export function Choice({
  name,
  label,
  value,
  options,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}): JSX.Element {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => choose(name, event.currentTarget.value)}>
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A search field; its words are in the address. */
export function Find(): JSX.Element {
  return (
    <label>
      find{" "}
      <input
        type="search"
        value={place.value.choices.get("q") ?? ""}
        onInput={({ currentTarget: { value } }) => choose("q", value === "" ? null : value)}
      />
    </label>
  );
}

/** Whether all words that are searched for are in the texts, taken together. */
export function isFound(texts: readonly (string | null)[]): boolean {
  const text = texts.join(" ").toLowerCase();
  const words = (place.value.choices.get("q") ?? "").toLowerCase().split(" ");
  return words.every((word) => text.includes(word));
}
