// What a run or a state update reports when the database has refused its items.
import { Problem } from '@svc/contract/problem';
import {
  isSlow,
  isUnavailable,
  originalError,
  policyOf,
  refusalOf,
} from '../../storage/postgres/sql-state.ts';

/** The items of one writer cannot be stored. The message names the object and what to do. */
export class CheckpointNotStored extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CheckpointNotStored';
  }
}

export interface LargestValue {
  /** Where the value is in the state, such as `values.messages`. */
  name: string;
  bytes: number;
}

/** A writer with fewer characters is not the reason why a flush is slow. */
const largeMin = 8 * 1024 * 1024;

export const megabytes = (bytes: number): string => `${Math.max(1, Math.round(bytes / 1_048_576))} MB`;

/**
 * The error for a writer whose items were refused when they were sent alone. `size`: characters of its values and events. An outage, and a
 * slow database, are not the fault of the writer: such an error is returned unchanged, and another attempt may succeed.
 */
export const notStoredError = (error: unknown, size: number, largest: LargestValue | undefined): Error => {
  if (error instanceof CheckpointNotStored) return error;
  const origin = originalError(error);
  if (isSlow(error) && size > largeMin)
    return refusal('took the database too long to store', size, largest, error);
  if (isUnavailable(error)) return error;
  if (policyOf(origin).kind === 'conflict')
    return new Problem('unavailable', 'Other transactions kept the checkpoint from being stored', {
      cause: origin,
    });
  return refusal(reasonOf(origin), size, largest, error);
};

const reasonOf = (origin: unknown): string => {
  const { code } = origin as { code?: unknown };
  if (origin instanceof RangeError) return 'is too large to be sent to the database';
  const why = refusalOf(origin);
  if (why === 'limit') return 'has a name that is too long, or a value that is too large, for the database';
  if (why === 'invalid') return 'has a text that the database cannot store';
  return typeof code === 'string' ? `was refused by the database (SQLSTATE ${code})` : 'could not be written';
};

const refusal = (reason: string, size: number, largest: LargestValue | undefined, cause: unknown): Error => {
  const isLarge = size > largeMin;
  const named = largest && isLarge ? `; ${largest.name} has ${megabytes(largest.bytes)} of it` : '';
  const advice = isLarge ? '. Keep large data outside of the state, and store a reference to it' : '';
  const object = isLarge ? `The checkpoint of ${megabytes(size)}` : 'The checkpoint';
  return new CheckpointNotStored(`${object} ${reason}${named}${advice}`, { cause });
};
