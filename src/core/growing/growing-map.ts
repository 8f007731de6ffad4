// Maps that grow: setting a value costs the same however many there are, and earlier maps stay unchanged.

export interface GrowingMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): GrowingMap<Key, Value>;
}

/** Every map made from one shares these: all that was set, and the place of each key's latest value. */
interface Shared<Key, Value> {
  readonly log: { readonly key: Key; readonly value: Value; readonly before: number }[];
  readonly latest: Map<Key, number>;
}

export function growingMap<Key, Value>(): GrowingMap<Key, Value> {
  return viewOf({ log: [], latest: new Map() }, 0);
}

/** The first set on a map writes in place; a later one on the same map copies. */
function viewOf<Key, Value>(shared: Shared<Key, Value>, length: number): GrowingMap<Key, Value> {
  return {
    get: (key) => {
      let place = shared.latest.get(key) ?? -1;
      while (place >= length) place = shared.log[place]?.before ?? -1;
      return shared.log[place]?.value;
    },
    set: (key, value) => {
      const own = shared.log.length === length ? shared : copyOf(shared, length);
      own.log.push({ key, value, before: own.latest.get(key) ?? -1 });
      own.latest.set(key, length);
      return viewOf(own, length + 1);
    },
  };
}

function copyOf<Key, Value>({ log }: Shared<Key, Value>, length: number): Shared<Key, Value> {
  const kept = log.slice(0, length);
  return { log: kept, latest: new Map(kept.map(({ key }, place) => [key, place])) };
}
