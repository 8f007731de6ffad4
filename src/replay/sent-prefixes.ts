// Which prefixes were sent, and a state for each. Blocks next to each other mostly share a state, so a visit costs little.

export interface SentPrefixes<State> {
  /**
   * Visits every prefix of a prompt, given by the keys of the prefixes that end with each block. `next` gets the state of a
   * span of blocks, undefined if they are sent for the first time, and returns their new state.
   */
  visit(keys: readonly string[], next: (state: State | undefined, span: Span) => State): void;
}

/** Blocks from the first up to, but without, the last. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Blocks that follow each other in some prompt. Where prompts part, one goes on and the others are lines of their own. */
interface Line<State> {
  /** The key before the first one; undefined at the start of a prompt. */
  readonly before: string | undefined;
  readonly start: number;
  readonly keys: string[];
  spans: StateSpan<State>[];
}

interface StateSpan<State> {
  readonly to: number;
  readonly state: State | undefined;
}

/** `isSame` says whether two spans can become one. */
export function createSentPrefixes<State>(
  isSame: (left: State, right: State) => boolean,
): SentPrefixes<State> {
  const lines = new Map<string, Line<State>>();

  /** How many blocks at the start were sent before: a prefix is known only if all shorter ones are. */
  const knownCount = (keys: readonly string[]): number => {
    let [low, high] = [0, keys.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (lines.has(keys[middle - 1] ?? "")) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /** Makes the rest of a line a line of its own, so that new blocks can follow in its place. */
  const partAt = (line: Line<State>, at: number): void => {
    const keys = line.keys.splice(at - line.start);
    const spans = line.spans.filter(({ to }) => to > at);
    const rest = { before: line.keys.at(-1), start: at, keys, spans };
    for (const key of keys) lines.set(key, rest);
    const [parted] = spans;
    line.spans = line.spans.filter(({ to }) => to <= at);
    if (parted !== undefined && (line.spans.at(-1)?.to ?? line.start) < at) {
      line.spans.push({ to: at, state: parted.state });
    }
  };

  /** The line of a prompt's last block, after its new blocks are added. */
  const extend = (keys: readonly string[]): Line<State> | undefined => {
    const known = knownCount(keys);
    const found = known === 0 ? undefined : lines.get(keys[known - 1] ?? "");
    if (known === keys.length) return found;
    const line = found ?? { before: undefined, start: 0, keys: [], spans: [] };
    if (line.start + line.keys.length > known) partAt(line, known);
    for (let block = known; block < keys.length; block += 1) {
      const key = keys[block] ?? "";
      line.keys.push(key);
      lines.set(key, line);
    }
    line.spans.push({ to: keys.length, state: undefined });
    return line;
  };

  return {
    visit: (keys, next) => {
      let to = keys.length;
      for (let line = extend(keys); line !== undefined; line = lines.get(line.before ?? "")) {
        line.spans = visitSpans(line, to, next, isSame);
        to = line.start;
      }
    },
  };
}

function visitSpans<State>(
  { start, spans }: Line<State>,
  until: number,
  next: (state: State | undefined, span: Span) => State,
  isSame: (left: State, right: State) => boolean,
): StateSpan<State>[] {
  const visited: StateSpan<State>[] = [];
  let from = start;
  for (const span of spans) {
    const to = Math.min(span.to, until);
    if (from < to) {
      const state = next(span.state, { from, to });
      const last = visited.at(-1)?.state;
      if (last !== undefined && isSame(last, state)) visited.pop();
      visited.push({ to, state });
    }
    if (span.to > until) visited.push(span);
    from = span.to;
  }
  return visited;
}
