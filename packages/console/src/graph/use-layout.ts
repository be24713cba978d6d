import { useEffect, useState } from 'react';
import { gridLayout, type Positions } from './layout.ts';
import type { Graph } from './read-graph.ts';

const limitMs = 5_000;

/** The positions of a graph's nodes, once the worker has computed them. */
export const useLayout = (graph: Graph): Positions | undefined => {
  const [laidOut, setLaidOut] = useState<{ graph: Graph; positions: Positions }>();
  useEffect(() => {
    const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    const finish = (positions: Positions): void => {
      clearTimeout(timer);
      worker.terminate();
      setLaidOut({ graph, positions });
    };
    const timer = setTimeout(() => finish(gridLayout(graph)), limitMs);
    worker.addEventListener('message', ({ data }: MessageEvent<Positions>) => finish(data));
    worker.addEventListener('error', () => finish(gridLayout(graph)));
    worker.postMessage(graph);
    return () => {
      clearTimeout(timer);
      worker.terminate();
    };
  }, [graph]);
  return laidOut?.graph === graph ? laidOut.positions : undefined;
};
