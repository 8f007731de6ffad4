// Values of things that have begun and not ended, limited in number because an end may never come.

export interface Pending<Value> {
  begin(key: string, value: Value): void;
  /** The value begun under the key; undefined if there is none. */
  find(key: string): Value | undefined;
  /** Removes and returns the value begun under the key; undefined if there is none. */
  end(key: string): Value | undefined;
  /** Removes and returns all that have not ended, oldest first. */
  endAll(): readonly Value[];
}

/** Beyond `max` the oldest value is dropped. */
export function createPending<Value>(
  max: number,
  onDropped: (value: Value) => void = () => {},
): Pending<Value> {
  const values = new Map<string, Value>();
  const end = (key: string): Value | undefined => {
    const value = values.get(key);
    values.delete(key);
    return value;
  };
  return {
    begin: (key, value) => {
      values.delete(key);
      values.set(key, value);
      if (values.size <= max) return;
      const [oldest] = values.keys();
      const dropped = oldest === undefined ? undefined : end(oldest);
      if (dropped !== undefined) onDropped(dropped);
    },
    find: (key) => values.get(key),
    end,
    endAll: () => {
      const all = [...values.values()];
      values.clear();
      return all;
    },
  };
}
