import * as z from 'zod';
import { nullish } from '../json.ts';

/** What a client that traces sends with a run. */
export const Tracer = z
  .object({ project_name: nullish(z.string().max(1_024)), example_id: nullish(z.string().max(256)) })
  .describe(
    'For tracers in graphs: copied to `langsmith_project` and `langsmith_example_id` of `configurable`. Traces that the server stores go to its own project',
  );
