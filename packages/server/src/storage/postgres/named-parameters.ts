// Statements with many parameters: named in the text, as `$run_id`, and given as a record. Their order is nobody's concern.
import type { Statement } from './database.ts';

/** The keys of `Parameters` are the names. */
export interface NamedStatement<Parameters extends object> {
  statement: Statement;
  /** The values in the order of the statement's parameters. */
  values(parameters: Parameters): unknown[];
}

/** Compiles the text once. Its numbered form is prepared by `name`. */
export const withNames = <Parameters extends object>(
  name: string,
  text: string,
): NamedStatement<Parameters> => {
  const names: string[] = [];
  const numbered = text.replaceAll(/\$([a-z]\w*)/g, (_, parameter: string) => {
    const at = names.indexOf(parameter);
    return `$${at === -1 ? names.push(parameter) : at + 1}`;
  });
  return {
    statement: { name, text: numbered },
    values: (parameters) =>
      names.map((parameter) => {
        const value = (parameters as Record<string, unknown>)[parameter];
        if (value === undefined) throw new Error(`Statement ${name} needs a value for $${parameter}`);
        return value;
      }),
  };
};
