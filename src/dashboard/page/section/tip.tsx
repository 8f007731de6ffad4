// The exact figures of the call and the layer under the pointer.
import type { JSX } from "preact";
import type { Layer } from "../../picture/find-layers.ts";
import { promptTokensOf } from "../../picture/pictured-call.ts";
import { carry, dollarsOf, type Scene } from "../../picture/scene.ts";
import { counted, dollars, tokens } from "../../words/figures.ts";
import { clock } from "../app/times.ts";

export interface TipProps {
  readonly scene: Scene;
  readonly column: number;
  readonly layer: Layer | null;
  readonly x: number;
  readonly y: number;
}

export function Tip({ scene, column, layer, x, y }: TipProps): JSX.Element | null {
  const call = scene.calls[column];
  if (call === undefined) return null;
  const carried = layer && carry(layer, scene);
  return (
    <div class="tip" role="presentation" style={{ left: `${x}px`, top: `${y}px` }}>
      <b>Call {call.number}</b> {clock(call.startMs)} · {dollars(dollarsOf(call))}
      <br />
      {tokens(promptTokensOf(call))}, {tokens(call.readTokens)} read
      {call.miss && (
        <>
          <br />
          <span class="fault">
            {call.miss.cause}: {tokens(call.miss.lostTokens)} lost
          </span>
        </>
      )}
      {carried && carried.section !== "" && (
        <>
          <hr />
          <b>{carried.section}</b>: {tokens(carried.tokens)}, carried for{" "}
          {counted(carried.callCount, "call")}
          {carried.dollars === null ? "" : `, ${dollars(carried.dollars)} so far`}
        </>
      )}
    </div>
  );
}
