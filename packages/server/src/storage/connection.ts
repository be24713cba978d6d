// Where the database is: the one that DATABASE_URI names, or the embedded one.
import type { Secret } from '../config/secret.ts';
import type { DatabaseOptions } from './database.ts';
import { openEmbedded } from './embedded/embedded.ts';

export interface Connection extends AsyncDisposable {
  options: DatabaseOptions;
  /** Why the embedded PostgreSQL is away; undefined while it runs, and for any other. */
  failure(): string | undefined;
}

export interface ConnectionSettings {
  readonly dataDir: string;
  readonly databaseUri: Secret | undefined;
  readonly poolMax: number;
}

export const openConnection = async (
  { dataDir, databaseUri, poolMax }: ConnectionSettings,
  signal?: AbortSignal,
): Promise<Connection> => {
  if (databaseUri !== undefined) {
    const options = { connection: { connectionString: databaseUri.reveal() }, poolMax };
    return { options, failure: () => undefined, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const embedded = await openEmbedded({ dataDir, signal });
  return {
    options: { connection: embedded.connection, poolMax },
    failure: () => embedded.failure(),
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  };
};
