import { ServerReach } from '../api/server-reach.ts';
import { apiUrl } from '../app/addresses.ts';
import { session } from './session.ts';

/** For the requests of this page to both APIs. A proxy that redirects to its sign-in has answered: the probe does not follow it. */
export const reach = new ServerReach({
  fetch: session.fetch,
  probe: (signal) => fetch(`${apiUrl}/ok`, { signal, cache: 'no-store', redirect: 'manual' }),
});
