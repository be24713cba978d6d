// Large graphs take seconds to lay out. In a worker, the page stays usable meanwhile.
import { layoutGraph } from './layout.ts';
import type { Graph } from './read-graph.ts';

addEventListener('message', ({ data }: MessageEvent<Graph>) => {
  postMessage(layoutGraph(data));
});
