import { useEffect, useState } from 'react';
import { simpleLayout, type Positions } from './layout.ts';
import type { Graph } from './read-graph.ts';

const limitMs = 5_000;

export interface Layout {
  positions: Positions;
  /** The worker has taken too long. */
  isSimple: boolean;
}

/** The positions of a graph's nodes, once the worker has computed them. */
export const useLayout = (graph: Graph): Layout | undefined => {
  const [laidOut, setLaidOut] = useState<Layout & { graph: Graph }>();
  useEffect(() => {
    const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    const finish = (layout: Layout): void => {
      clearTimeout(timer);
      worker.terminate();
      setLaidOut({ graph, ...layout });
    };
    const fallBack = (): void => finish({ positions: simpleLayout(graph), isSimple: true });
    const timer = setTimeout(fallBack, limitMs);
    worker.addEventListener('message', ({ data }: MessageEvent<Positions>) =>
      finish({ positions: data, isSimple: false }),
    );
    worker.addEventListener('error', fallBack);
    worker.postMessage(graph);
    return () => {
      clearTimeout(timer);
      worker.terminate();
    };
  }, [graph]);
  return laidOut?.graph === graph ? laidOut : undefined;
};
