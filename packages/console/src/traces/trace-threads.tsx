// Threads of traces: the list of a project, or one thread with its traces.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { PlatformClient, Project } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useProjects } from '../platform/projects.ts';
import { Loaded, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { TraceThreadList } from './trace-thread-list.tsx';
import { useTraceThreads, type ThreadFilter } from './trace-thread-queries.ts';
import { TraceThreadView } from './trace-thread-view.tsx';
import { TracesView } from './traces-view.tsx';

const route = getRouteApi('/traces');

const nameMax = 80;

export const TraceThreads = ({ client }: { client: PlatformClient }): ReactNode => {
  const { view: _, thread, ...filter } = route.useSearch();
  const projects = useProjects(client);
  const project = filter.project ?? onlyProject(projects.data)?.id;
  if (project === undefined)
    return (
      <TracesView client={client} error={projects.error}>
        <Loaded query={projects}>{(all) => <ProjectChoice projects={all} />}</Loaded>
      </TracesView>
    );
  if (thread !== undefined) return <TraceThreadView client={client} project={project} threadId={thread} />;
  return <ThreadsOfProject client={client} filter={{ ...filter, project }} />;
};

const ThreadsOfProject = ({
  client,
  filter,
}: {
  client: PlatformClient;
  filter: ThreadFilter;
}): ReactNode => {
  const query = useTraceThreads(client, filter);
  return (
    <TracesView client={client} error={query.error}>
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
