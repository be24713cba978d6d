// Query strings that people can read and write: `status=error&status=timeout`, without JSON.

/** What is in a query string: a parameter that repeats is a list. */
export type RawSearch = Record<string, string | string[]>;

export const parseSearch = (text: string): RawSearch => {
  const raw: RawSearch = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = raw[name];
    raw[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return raw;
};

/** Values that are undefined, empty or an empty list are left out. */
export const formatSearch = (search: Readonly<Record<string, unknown>>): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const one of [value].flat()) {
      const text = typeof one === 'string' || typeof one === 'number' ? String(one) : '';
      if (text !== '') parameters.append(name, text);
    }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
};

const first = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

type Raw = Record<string, unknown>;

/** Reads a parameter; undefined for a value that the page does not know. */
type Parameter<Value> = (raw: Raw, name: string) => Value | undefined;

/** The parameters of a page. Any of them may be absent. */
export const searchOf =
  <Search extends object>(parameters: { [Name in keyof Search]: Parameter<Search[Name]> }) =>
  (raw: Raw): { [Name in keyof Search]?: Search[Name] | undefined } =>
    Object.fromEntries(
      Object.entries<Parameter<unknown>>(parameters).map(([name, read]) => [name, read(raw, name)]),
    ) as { [Name in keyof Search]?: Search[Name] };

/** A parameter of any text. */
export const textOf = (raw: Raw, name: string): string | undefined => {
  const value = first(raw[name] as string | string[] | undefined);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** One of the values that the page knows. */
export const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (raw: Raw, name: string): T | undefined =>
    values.find((value) => value === textOf(raw, name));

/** The values of a repeated parameter that the page knows. */
export const manyOf =
  <T extends string>(values: readonly T[]) =>
  (raw: Raw, name: string): T[] | undefined => {
    const given = [raw[name] ?? []].flat();
    const known = values.filter((value) => given.includes(value));
    return known.length > 0 ? known : undefined;
  };

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => uuid.test(text);

/** An id; undefined for any other text. */
export const idOf = (raw: Raw, name: string): string | undefined => {
  const value = textOf(raw, name);
  return value !== undefined && isId(value) ? value : undefined;
};

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** A time with its zone, in UTC; undefined for any other text. */
export const timeOf = (raw: Raw, name: string): string | undefined => {
  const value = textOf(raw, name) ?? '';
  const ms = moment.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
};

/** The times `from` and `to`: none of them when no time is between them. */
export const timeRangeOf = (raw: Raw): { from: string | undefined; to: string | undefined } => {
  const [from, to] = [timeOf(raw, 'from'), timeOf(raw, 'to')];
  const isEmpty = from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to);
  return isEmpty ? { from: undefined, to: undefined } : { from, to };
};

/** The parameters of a time: a span until now, or a range. */
export const timeParameters = {
  since: oneOf('15m', '1h', '1d', '7d'),
  from: (raw: Raw) => timeRangeOf(raw).from,
  to: (raw: Raw) => timeRangeOf(raw).to,
};

/** The parameters that `search` has not taken over (the router also passes absent ones), as `name=value`: a page that ignored them would show more than was requested. */
export const rejectedOf = (raw: Raw, search: Readonly<Record<string, unknown>>): string[] | undefined => {
  const rejected = Object.entries(raw).flatMap(([name, value]) => {
    const given = [value ?? []].flat().map(String);
    if (name === 'rejected') return given;
    const known = Array.isArray(search[name]) ? search[name] : [];
    if (known.length === 0 && search[name] !== undefined) return [];
    return given.filter((text) => text !== '' && !known.includes(text)).map((text) => `${name}=${text}`);
  });
  return rejected.length > 0 ? rejected : undefined;
};
