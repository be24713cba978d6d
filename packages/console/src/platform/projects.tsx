import type { Project } from '@svc/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FilterSelect } from '../ui/filters.tsx';
import { usePlatformQuery } from './platform-access.ts';

/** A filter by project. A project that the list does not contain is shown by its id. */
export const ProjectSelect = ({
  project,
  onChange,
}: {
  project: string | undefined;
  onChange: (project: string | undefined) => void;
}): ReactNode => {
  const { data: projects = [] } = useProjects();
  const isKnown = projects.some(({ id }) => id === project);
  return (
    <FilterSelect
      label="Project"
      all="All projects"
      choices={[
        ...(project !== undefined && !isKnown ? [[project, project.slice(0, 8)] as const] : []),
        ...projects.map(({ id, name }) => [id, name] as const),
      ]}
      chosen={project}
      onChange={onChange}
    />
  );
};

export const useProjects = (): UseQueryResult<Project[]> =>
  usePlatformQuery({
    queryKey: ['traces', 'projects'],
    read: (client, call) => client.projects.list({ limit: 100 }, call),
    staleTime: 10_000,
    refetchInterval: 30_000,
  });
