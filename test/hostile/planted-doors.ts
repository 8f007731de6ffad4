// Doors with one planted fault each, at the input with number 3.
import { writeFileSync } from "node:fs";
import { plantedKey } from "../../harness/planted-key.ts";
import { StrataError } from "../../src/core/strata-error.ts";
import type { Door, Outcome } from "../../torture/hostile/door.ts";

const fine: Outcome = { isAccepted: true, outputs: ["fine"] };

function door(name: string, fault: () => Outcome | Promise<Outcome>): Door {
  const attempt = (_: unknown, number: number): Outcome | Promise<Outcome> =>
    number === 3 ? fault() : fine;
  return { name, quota: 6, block: 1, open: () => ({ attempt }) };
}

export const doors: readonly Door[] = [
  door("crashing", () => {
    throw new TypeError("undefined is not a function");
  }),
  door("rejecting", () => {
    void Promise.reject(new Error("forgotten"));
    return fine;
  }),
  door("dying", () => process.exit(3)),
  door("hanging", () => {
    for (;;);
  }),
  door("leaking", () => ({ isAccepted: true, outputs: [`the key is ${plantedKey}`] })),
  door("silent", () => {
    throw new StrataError("input-invalid", "it is wrong", " ");
  }),
  door("touching", () => {
    // A worker stands in the canary.
    writeFileSync("new.txt", "x");
    return fine;
  }),
];
