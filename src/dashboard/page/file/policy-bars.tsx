// What was paid and what each policy would have cost, as bars. The limit is a mark behind them, so that it crosses no label.
import type { JSX } from "preact";
import type { ReplayedFile } from "../../file/file-data.ts";
import { dollars } from "../../words/figures.ts";

export function PolicyBars({ of }: { readonly of: ReplayedFile }): JSX.Element {
  const { recordedUsd, policies, limitUsd } = of;
  const rows = [
    ...(recordedUsd === null ? [] : [{ name: "as it was billed", usd: recordedUsd, isOwn: true }]),
    ...policies.map(({ names, usd }) => ({ name: names.join(", "), usd, isOwn: false })),
  ];
  const most = Math.max(limitUsd, ...rows.map(({ usd }) => usd)) || 1;
  const limit = { left: `${(limitUsd / most) * 100}%` };
  return (
    <table class="bars">
      <thead>
        <tr>
          <th scope="col" class="words">
            policy
          </th>
          <th scope="col" class="words">
            <span class="track">
              <span class="limit" style={limit} />
              <span class="limit-name" style={limit}>
                limit {dollars(limitUsd)}
              </span>
            </span>
          </th>
          <th scope="col">dollars</th>
          <th scope="col">× limit</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, usd, isOwn }) => (
          <tr key={name}>
            <th scope="row" class="words">
              {isOwn ? <b>{name}</b> : name}
            </th>
            <td>
              <span class="track">
                <i
                  class={`bar ${isOwn ? "own" : ""}`}
                  style={{ width: `${(usd / most) * 100}%` }}
                />
                <span class="limit" style={limit} />
              </span>
            </td>
            <td>{dollars(usd)}</td>
            <td>{limitUsd === 0 ? "–" : (usd / limitUsd).toFixed(3)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
