import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { PlatformClient, Project } from '@svc/sdk';

export const useProjects = (client: PlatformClient): UseQueryResult<Project[]> =>
  useQuery({
    queryKey: ['traces', 'projects'],
    queryFn: ({ signal }) => client.projects.list({ limit: 100 }, { signal }),
    staleTime: 10_000,
    refetchInterval: 30_000,
  });
