// What colours and signs of a cross-section mean.
import type { JSX } from "preact";

const swatches = [
  ["t0", "tools"],
  ["t1", "static system"],
  ["t2", "session system"],
  ["t3", "history, read from the cache: a shade per call"],
  ["w5", "written for minutes"],
  ["w1", "written for an hour or longer"],
  ["fresh", "sent at full price"],
] as const;

export function Legend(): JSX.Element {
  return (
    <ul class="key">
      {swatches.map(([name, meaning]) => (
        <li key={name}>
          <i class={`sw ${name}`} aria-hidden="true" />
          {meaning}
        </li>
      ))}
      <li>
        <b class="fault" aria-hidden="true">
          ▼
        </b>{" "}
        miss · ┊ pause · ⌁ compaction · ▾ marker
      </li>
    </ul>
  );
}
