/** One mistake in the configuration, with its remedy. */
export interface Mistake {
  /** A setting (`SVC_PORT`, `flag --port`) or a place in a file (`svc.json:4:12 graphs.agent`). */
  where: string;
  /** The given value, quoted; a secret is redacted. */
  value?: string;
  problem: string;
  remedy: string;
  /** Absolute path of a file whose creation would correct the mistake. */
  missingFile?: string;
}

/** All mistakes of a configuration. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError';
  readonly mistakes: readonly Mistake[];

  constructor(...mistakes: Mistake[]) {
    super(mistakes.map(formatMistake).join('\n'));
    this.mistakes = mistakes;
  }
}

export const configError = (where: string, problem: string, remedy: string): ConfigError =>
  new ConfigError({ where, problem, remedy });

export function formatMistake({ where, value, problem, remedy }: Mistake): string {
  const subject = value === undefined ? where : `${where} = ${value}`;
  return `${subject}: ${problem}\n    ${remedy}`;
}

/** The candidate that is most similar to `word`, for "did you mean"; undefined when none is similar enough. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(word.length > 3 ? 2 : 1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  // Bounded, because a key of a hostile file may be megabytes long.
  if (Math.abs(a.length - b.length) > 8) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}
