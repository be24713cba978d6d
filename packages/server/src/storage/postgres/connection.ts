// Where the database is: the one that DATABASE_URI names, or the embedded one.
import type { Secret } from '../../config/settings/secret.ts';
import type { DatabaseOptions } from './database.ts';
import { openEmbedded } from '../embedded/embedded.ts';

export interface Connection extends AsyncDisposable {
  options: DatabaseOptions;
  /** Why the embedded PostgreSQL is away; undefined while it runs, and for any other. */
  failure(): string | undefined;
}

export interface ConnectionSettings {
  readonly dataDir: string;
  readonly databaseUri: Secret | undefined;
}

/** `connections`: how many this node wants; an embedded PostgreSQL that is started now has room for several of its kind. */
export const openConnection = async (
  { dataDir, databaseUri }: ConnectionSettings,
  { connections, signal }: { connections?: number; signal?: AbortSignal | undefined } = {},
): Promise<Connection> => {
  if (databaseUri !== undefined) {
    const options = { connection: { connectionString: databaseUri.reveal() } };
    return { options, failure: () => undefined, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const embedded = await openEmbedded({ dataDir, connections, signal });
  return {
    options: { connection: embedded.connection },
    failure: () => embedded.failure(),
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  };
};
