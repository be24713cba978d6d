import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { visibleText } from '../values/visible-text.ts';
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
    <select
      className="field"
      aria-label="Project"
      value={project ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">All projects</option>
      {project !== undefined && !isKnown && <option value={project}>{project.slice(0, 8)}</option>}
      {projects.map(({ id, name }) => (
        <option key={id} value={id}>
          {visibleText(name)}
        </option>
      ))}
    </select>
  );
};
