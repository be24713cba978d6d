// Compares what two servers responded. Only ids and times may differ: an id of one server stands for one id of the other.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** `here` and `there` are absent where only the other server has a value. */
export interface Difference {
  path: string;
  here?: Json;
  there?: Json;
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Compares recorded responses by the names of their steps. */
export const compareSteps = (
  here: ReadonlyMap<string, Json>,
  there: ReadonlyMap<string, Json>,
): readonly Difference[] => {
  const comparison = new Comparison();
  for (const step of new Set([...here.keys(), ...there.keys()]))
    comparison.compare(step, here.get(step), there.get(step));
  return comparison.differences;
};

class Comparison {
  readonly differences: Difference[] = [];
  readonly #there = new Map<string, string>();
  readonly #here = new Map<string, string>();

  /** Compares two values and all that they contain. */
  compare(path: string, here: Json | undefined, there: Json | undefined): void {
    if (here === undefined || there === undefined) {
      if (here !== there) this.#differ(path, here, there);
    } else if (isEvents(here) && isEvents(there)) this.#events(path, here, there);
    else if (Array.isArray(here) && Array.isArray(there)) this.#list(path, here, there);
    else if (isObject(here) && isObject(there)) this.#object(path, here, there);
    else if (typeof here === 'string' && typeof there === 'string') this.#text(path, here, there);
    else if (here !== there) this.#differ(path, here, there);
  }

  #differ(path: string, here: Json | undefined, there: Json | undefined): void {
    this.differences.push({
      path,
      ...(here === undefined ? {} : { here }),
      ...(there === undefined ? {} : { there }),
    });
  }

  #list(path: string, here: Json[], there: Json[]): void {
    for (let at = 0; at < Math.max(here.length, there.length); at++)
      this.compare(`${path}.${at}`, here[at], there[at]);
  }

  #object(path: string, here: Record<string, Json>, there: Record<string, Json>): void {
    // Ids as keys are paired in their order.
    const ids = (value: object) => Object.keys(value).filter((key) => shapeOf(key) !== key);
    const pairs = new Map(ids(here).map((key, at) => [key, ids(there)[at]]));
    const names = [...pairs.values()];
    for (const key of Object.keys(here)) {
      const other = pairs.has(key) ? pairs.get(key) : key;
      if (other !== undefined && other !== key) this.#text(`${path}.(key)`, key, other);
      this.compare(`${path}.${shapeOf(key)}`, here[key], other === undefined ? undefined : there[other]);
    }
    for (const key of Object.keys(there))
      if (!(key in here) && !names.includes(key))
        this.#differ(`${path}.${shapeOf(key)}`, undefined, there[key]);
  }

  #text(path: string, here: string, there: string): void {
    if (time.test(here) && time.test(there)) return;
    const [ours, theirs] = [here.match(uuid) ?? [], there.match(uuid) ?? []];
    const isSame =
      shapeOf(here) === shapeOf(there) && ours.every((id, at) => this.#isSameId(id, theirs[at] as string));
    if (!isSame) this.#differ(path, here, there);
  }

  #isSameId(here: string, there: string): boolean {
    if (!this.#there.has(here) && !this.#here.has(there)) {
      this.#there.set(here, there);
      this.#here.set(there, here);
    }
    return this.#there.get(here) === there && this.#here.get(there) === here;
  }

  /** Pairs events of the same kind, in their order; the others are additional or missing. */
  #events(path: string, here: Event[], there: Event[]): void {
    const counts = new Map<string, number>();
    for (const [ours, theirs] of align(here, there)) {
      const kind = kindOf((ours ?? theirs) as Event);
      const count = counts.get(kind) ?? 0;
      counts.set(kind, count + 1);
      const at = `${path}.${kind}[${count}]`;
      if (ours && theirs) {
        this.#text(`${at}.event`, ours.event, theirs.event);
        this.compare(at, ours.data, theirs.data);
      } else this.#differ(at, ours?.data, theirs?.data);
    }
  }
}

interface Event {
  [key: string]: Json;
  event: string;
  data: Json;
}

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEvents = (value: Json): value is Event[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isObject(one) && typeof one['event'] === 'string' && 'data' in one);

/** A text with its ids left out. */
export const shapeOf = (text: string): string => text.replaceAll(uuid, 'ID');

/** What events have in common that report the same thing: their name, and the type or name within. */
const kindOf = ({ event, data }: Event): string => {
  const name = shapeOf(event);
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return name;
  const { type, name: inner, event: callback } = data;
  return [name, ...[type, callback, inner].filter((one) => typeof one === 'string')].join(':');
};

/** The longest common subsequence by kind, with what is between. */
const align = (here: Event[], there: Event[]): [Event | undefined, Event | undefined][] => {
  const [ours, theirs] = [here.map(kindOf), there.map(kindOf)];
  const zeros = (): number[] => Array.from({ length: there.length + 1 }, () => 0);
  const lengths = Array.from({ length: here.length + 1 }, zeros);
  for (let i = here.length - 1; i >= 0; i--)
    for (let j = there.length - 1; j >= 0; j--)
      lengths[i]![j] =
        ours[i] === theirs[j]
          ? lengths[i + 1]![j + 1]! + 1
          : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const pairs: [Event | undefined, Event | undefined][] = [];
  let [i, j] = [0, 0];
  while (i < here.length || j < there.length) {
    if (i < here.length && j < there.length && ours[i] === theirs[j]) pairs.push([here[i++], there[j++]]);
    else if (j >= there.length || (i < here.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      pairs.push([here[i++], undefined]);
    else pairs.push([undefined, there[j++]]);
  }
  return pairs;
};
