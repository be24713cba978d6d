// Threads of traces: the list of a project, or one thread with its traces.
import type { Project } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useProjects } from '../platform/projects.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { TraceThreadList } from './trace-thread-list.tsx';
import { type ThreadFilter, useTraceThreads } from './trace-thread-queries.ts';
import { TraceThreadView } from './trace-thread-view.tsx';
import { TracesView } from './traces-view.tsx';

const route = getRouteApi('/traces');

const nameMax = 80;

export const TraceThreads = (): ReactNode => {
  const { view: _, thread, ...filter } = route.useSearch();
  const projects = useProjects();
  const project = filter.project ?? onlyProject(projects.data)?.id;
  if (project === undefined)
    return (
      <TracesView error={projects.error}>
        <Loaded query={projects}>{(all) => <ProjectChoice projects={all} />}</Loaded>
      </TracesView>
    );
  if (thread !== undefined) return <TraceThreadView project={project} threadId={thread} />;
  return <ThreadsOfProject filter={{ ...filter, project }} />;
};

const ThreadsOfProject = ({ filter }: { filter: ThreadFilter }): ReactNode => {
  const query = useTraceThreads(filter);
  return (
    <TracesView error={query.error}>
      <TraceThreadList query={query} filter={filter} />
    </TracesView>
  );
};

const onlyProject = (projects: readonly Project[] = []): Project | undefined =>
  projects.length === 1 ? projects[0] : undefined;

/** A thread belongs to a project. */
const ProjectChoice = ({ projects }: { projects: readonly Project[] }): ReactNode => {
  const search = route.useSearch();
  return projects.length === 0 ? (
    <State icon="empty" title="There are no traces yet" />
  ) : (
    <State icon="empty" title="Threads of which project?">
      <div className="chips">
        {projects.map(({ id, name }) => (
          <Link key={id} to="/traces" search={{ ...search, project: id }} className="chip" data-row>
            {visibleText(name.slice(0, nameMax))}
          </Link>
        ))}
      </div>
    </State>
  );
};
