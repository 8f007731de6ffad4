// Disturbs the world around a gateway while traffic passes, and lets it settle before it disturbs it again.
import type { Random } from "../../harness/random-message.ts";
import type { Stage } from "./stage.ts";

export interface Stirring {
  /** Called with the number of each exchange. */
  at(number: number): void;
  /** Everything is as it should be. */
  end(): Promise<void>;
}

export interface StirOptions {
  readonly stage: Stage;
  readonly random: Random;
  /** So many exchanges lie between two disturbances at least. */
  readonly every: number;
  readonly onDisturbed: (name: string) => void;
}

/** A thread that was killed takes a second or two to start: disturbed sooner than that, a ledger would never be written. */
export function stir({ stage, random, every, onDisturbed }: StirOptions): Stirring {
  let state: "calm" | "disturbed" | "settling" = "calm";
  const settle = async (): Promise<void> => {
    state = "settling";
    await stage.calm();
    state = "calm";
  };
  return {
    at: (number) => {
      const place = number % every;
      if (state === "calm" && place === every - 1) {
        state = "disturbed";
        onDisturbed(stage.disturb(random));
      } else if (state === "disturbed" && place === Math.floor(every / 2)) {
        void settle();
      }
    },
    end: settle,
  };
}
