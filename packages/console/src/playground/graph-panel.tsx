import { lazy, Suspense, useMemo, type ReactNode } from 'react';
import { useGraph } from '../api/queries.ts';
import { readGraph } from '../graph/read-graph.ts';
import type { NodeActivity } from '../messages/fold-run.ts';
import { Loaded, Skeleton } from '../ui/states.tsx';

const GraphView = lazy(async () => ({ default: (await import('../graph/graph-view.tsx')).GraphView }));

type Activity = ReadonlyMap<string, NodeActivity>;

export const GraphPanel = ({
  assistantId,
  activity,
  isRestored,
}: {
  assistantId: string;
  activity: Activity;
  isRestored: boolean;
}): ReactNode => {
  const graph = useGraph(assistantId);
  return (
    <section className="playground-graph" aria-label="Graph" data-restored={isRestored}>
      <Loaded query={graph}>{(data) => <Drawn data={data} activity={activity} />}</Loaded>
    </section>
  );
};

const Drawn = ({
  data,
  activity,
}: {
  data: Parameters<typeof readGraph>[0];
  activity: Activity;
}): ReactNode => {
  const graph = useMemo(() => readGraph(data), [data]);
  return (
    <>
      <Suspense fallback={<Skeleton rows={4} />}>
        <GraphView graph={graph} activity={activity} />
      </Suspense>
      <ul className="visually-hidden" aria-label="Nodes">
        {graph.nodes
          .filter(({ kind }) => kind === 'node')
          .map(({ id, label }) => (
            <li key={id}>
              {label}: {activity.get(id)?.state ?? 'not run'}
            </li>
          ))}
      </ul>
    </>
  );
};
