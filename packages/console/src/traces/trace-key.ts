// The client of the trace routes. They need the key of a workspace, which the session of this browser may hold.
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { apiUrl } from '../app/addresses.ts';
import { session, useSession } from '../session/session.ts';

const client = createPlatformClient({ apiUrl, fetch: session.fetch });

/** The client, if the session has the key of a workspace. */
export const useTraceClient = (): PlatformClient | undefined =>
  useSession()?.workspace ? client : undefined;
