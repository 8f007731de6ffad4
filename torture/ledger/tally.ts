// Counts over a whole run.

export interface Tally {
  kills: number;
  alone: number;
  together: number;
  stalled: number;
  acknowledged: number;
  interrupted: number;
  resumed: number;
  abandoned: number;
  conflicts: number;
  /** Conflicts of writers that had lost their turn. */
  fenced: number;
  locksTaken: number;
  restarts: number;
  losses: number;
  checked: number;
  problems: number;
  gaveUp: number;
  stuck: number;
}

export function openTally(): Tally {
  return {
    kills: 0,
    alone: 0,
    together: 0,
    stalled: 0,
    acknowledged: 0,
    interrupted: 0,
    resumed: 0,
    abandoned: 0,
    conflicts: 0,
    fenced: 0,
    locksTaken: 0,
    restarts: 0,
    losses: 0,
    checked: 0,
    problems: 0,
    gaveUp: 0,
    stuck: 0,
  };
}
