// Values of things that have begun and not ended, limited in number because an end may never come.

export interface Pending<Value> {
  begin(key: string, value: Value): void;
  /** Removes and returns the value begun under the key; undefined if there is none. */
  end(key: string): Value | undefined;
}

/** Beyond `max` the oldest value is dropped. */
export function createPending<Value>(max: number): Pending<Value> {
  const values = new Map<string, Value>();
  return {
    begin: (key, value) => {
      values.delete(key);
      values.set(key, value);
      if (values.size <= max) return;
      const [oldest] = values.keys();
      if (oldest !== undefined) values.delete(oldest);
    },
    end: (key) => {
      const value = values.get(key);
      values.delete(key);
      return value;
    },
  };
}
