import { type UseQueryResult } from '@tanstack/react-query';
import type { Destination } from '@svc/sdk';
import type { KeyNeed } from '../platform/key-gate.tsx';
import { usePlatformQuery } from '../platform/platform-access.ts';

/** What the pages of destinations need a key for. */
export const destinationNeed = { what: 'Destinations', role: 'viewer' } as const satisfies KeyNeed;

export const newDestinationNeed = {
  what: 'Destinations',
  role: 'admin',
  creates: true,
} as const satisfies KeyNeed;

export const useDestination = (id: string): UseQueryResult<Destination> =>
  usePlatformQuery({
    queryKey: ['exports', 'destinations', id],
    read: (client, call) => client.destinations.get(id, call),
    staleTime: 5_000,
  });
