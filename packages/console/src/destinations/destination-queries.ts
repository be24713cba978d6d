import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Destination, PlatformClient } from '@svc/sdk';
import type { KeyNeed } from '../platform/key-gate.tsx';

/** What the pages of destinations need a key for. */
export const destinationNeed = { what: 'Destinations', role: 'viewer' } as const satisfies KeyNeed;

export const newDestinationNeed = {
  what: 'Destinations',
  role: 'admin',
  creates: true,
} as const satisfies KeyNeed;

export const useDestination = (client: PlatformClient, id: string): UseQueryResult<Destination> =>
  useQuery({
    queryKey: ['exports', 'destinations', id],
    queryFn: ({ signal }) => client.destinations.get(id, { signal }),
    staleTime: 5_000,
  });
