// Opens the database: the one that DATABASE_URI names, or the embedded server.
import type { Secret } from '../../config/settings/secret.ts';
import type { DatabaseOptions } from './database.ts';
import { openEmbedded } from '../embedded/embedded.ts';
import { assertRestored } from '../embedded/restore-mark.ts';

export interface Connection extends AsyncDisposable {
  options: DatabaseOptions;
  /** Why the embedded server is down; undefined while it runs, and for a database of DATABASE_URI. */
  failure(): string | undefined;
}

export interface ConnectionSettings {
  readonly dataDir: string;
  readonly databaseUri: Secret | undefined;
  readonly databaseListenUri: Secret | undefined;
}

/** `listenUri`: a direct connection, when `uri` leads to a pooler in transaction mode. */
export const uriOptions = (uri: Secret, listenUri: Secret | undefined): DatabaseOptions => ({
  connection: { connectionString: uri.reveal() },
  ...(listenUri === undefined ? {} : { direct: { connectionString: listenUri.reveal() } }),
});

/**
 * `connections`: how many this node needs. An embedded server that is started now allows several nodes of that size. Throws when a restore into
 * the data folder has not finished, unless this is the restore.
 */
export const openConnection = async (
  { dataDir, databaseUri, databaseListenUri }: ConnectionSettings,
  {
    connections,
    signal,
    restores = false,
  }: { connections?: number; signal?: AbortSignal | undefined; restores?: boolean } = {},
): Promise<Connection> => {
  if (databaseUri !== undefined) {
    const options = uriOptions(databaseUri, databaseListenUri);
    return { options, failure: () => undefined, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  if (!restores) await assertRestored(dataDir);
  const embedded = await openEmbedded({ dataDir, connections, signal });
  return {
    options: { connection: embedded.connection },
    failure: () => embedded.failure(),
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  };
};
