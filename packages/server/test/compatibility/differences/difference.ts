import { shapeOf, type Difference } from '../compare.ts';

/** A behaviour in which this server differs, for docs/compatibility.md, and where it shows. */
export interface ListedDifference {
  /** What this server does. */
  readonly behaviour: string;
  readonly reason: string;
  /**
   * Differences by scenario. A pattern begins with `+` (only here), `-` (only there), `~` (another value), `>` (a text that begins with the other
   * one) or `*` (any of these), and continues with a path, in
   * which `*` stands for a part of a step of the path and `**` for any steps. It may end with ` = null`: the value that only one server has.
   */
  readonly where: Readonly<Record<string, readonly string[]>>;
  /** The response of the other server depends on time, so it may be the same. */
  readonly mayBeSame?: true;
}

const signOf = ({ here, there }: Difference): string => {
  if (here === undefined) return '-';
  if (there === undefined) return '+';
  if (typeof here !== 'string' || typeof there !== 'string') return '~';
  const [ours, theirs] = [shapeOf(here), shapeOf(there)];
  return ours !== theirs && ours.startsWith(theirs) ? '>' : '~';
};

const escaped = (text: string): string => text.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`);

/** True for the scenario names that a key of `where` stands for: `*`, or a name with `*` in it. */
export const isScenario = (key: string, name: string): boolean =>
  new RegExp(`^${escaped(key).replaceAll('*', '.*')}$`).test(name);

/** The test of a pattern. */
export const matcherOf = (pattern: string): ((difference: Difference) => boolean) => {
  const parts = /^([+~>*-]) (.+?)(?: = (.+))?$/.exec(pattern);
  if (!parts) throw new Error(`"${pattern}" is not a pattern of differences`);
  const [, sign, path = '', value] = parts;
  const source = escaped(path).replaceAll(/\*\*|\*/g, (star) => (star === '**' ? '.*' : '[^.]*'));
  const regex = new RegExp(`^${source}$`);
  return (difference) =>
    (sign === '*' || signOf(difference) === sign) &&
    regex.test(difference.path) &&
    (value === undefined ||
      JSON.stringify('here' in difference ? difference.here : difference.there) === value);
};
