import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
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
  const [isOpen, setOpen] = useState(false);
  const closed = useGraph(assistantId);
  const opened = useGraph(assistantId, { xray: true });
  // An engine that cannot open the subgraphs draws the graph as it is.
  const hasSubgraphs = (opened.data?.nodes.length ?? 0) > (closed.data?.nodes.length ?? 0);
  const graph = isOpen && hasSubgraphs ? opened : closed;
  return (
    <section className="playground-graph" aria-label="Graph" data-restored={isRestored}>
      {hasSubgraphs && (
        <button
          type="button"
          className="chip graph-subgraphs"
          aria-pressed={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Open subgraphs
        </button>
      )}
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
