// Divides the sentences of a refused request among the fields of a form.
import { ApiError } from '@svc/sdk';

export interface Faults {
  /** Sentences by field. */
  at: ReadonlyMap<string, string>;
  /** Sentences that belong to no field of the form. */
  rest: string[];
}

/** The path below the body: `config.bucket_name`. */
const pathOf = (loc: readonly (string | number)[]): string => loc.slice(loc[0] === 'body' ? 1 : 0).join('.');

/** Adds the faults that the form has found itself. */
export const withFaults = ({ at, rest }: Faults, more: ReadonlyMap<string, string>): Faults => ({
  at: new Map([...at, ...more]),
  rest,
});

/** `fields`: the paths of the fields of the form. A fault of an element belongs to the field of its list. */
export const faultsOf = (error: Error | null, fields: readonly string[]): Faults => {
  const at = new Map<string, string>();
  const rest: string[] = [];
  if (error === null) return { at, rest };
  if (!(error instanceof ApiError) || typeof error.detail === 'string')
    return { at, rest: sentencesOf(error) };
  for (const { loc, msg } of error.detail) {
    const path = pathOf(loc);
    const field = fields.find((name) => path === name || path.startsWith(`${name}.`));
    if (field === undefined) rest.push(path === '' ? msg : `${path}: ${msg}`);
    else at.set(field, [at.get(field), msg].filter((text) => text !== undefined).join(' '));
  }
  return { at, rest };
};

/** Browsers reject a request without a response with a TypeError: Chrome, Firefox and Safari in this order. */
const isUnreachable = (error: Error): boolean =>
  error instanceof TypeError && /^(Failed to fetch|NetworkError|Load failed)/.test(error.message);

/** The message of a failed request, as sentences. A validation error has a sentence for each fault. */
export const sentencesOf = (error: Error): string[] => {
  if (isUnreachable(error))
    return ['No response: check that the server runs and that this machine reaches it.'];
  if (!(error instanceof ApiError)) return [error.message];
  const { detail } = error;
  if (typeof detail === 'string') return [detail === '' ? error.message : detail];
  return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
};
