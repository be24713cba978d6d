import { type UseQueryResult } from '@tanstack/react-query';
import type { Destination } from '@svc/sdk';
import { usePlatformQuery } from './platform-access.ts';

/** Destinations of exports, the newest first. */
export const useDestinations = (): UseQueryResult<Destination[]> =>
  usePlatformQuery({
    queryKey: ['exports', 'destinations'],
    read: (client, call) => client.destinations.list(call),
    staleTime: 5_000,
    refetchInterval: 30_000,
  });

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Where the files are: `s3://bucket/prefix`, or the folder. */
export const placeOf = ({ destination_type: type, config }: Destination): string =>
  type === 'file'
    ? text(config['path'])
    : [`s3://${text(config['bucket_name'])}`, text(config['prefix']).replace(/^\/+|\/+$/g, '')]
        .filter((part) => part !== '')
        .join('/');
