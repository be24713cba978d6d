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
