import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { FilterSelect } from '../ui/filters.tsx';
import { useProjects } from './projects.ts';

/** A filter by project. A project that the list does not contain is shown by its id. */
export const ProjectSelect = ({
  client,
  project,
  onChange,
}: {
  client: PlatformClient;
  project: string | undefined;
  onChange: (project: string | undefined) => void;
}): ReactNode => {
  const { data: projects = [] } = useProjects(client);
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
