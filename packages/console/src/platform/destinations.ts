import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Destination, PlatformClient } from '@svc/sdk';

/** Destinations of exports, the newest first. */
export const useDestinations = (client: PlatformClient): UseQueryResult<Destination[]> =>
  useQuery({
    queryKey: ['exports', 'destinations'],
    queryFn: ({ signal }) => client.destinations.list({ signal }),
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
