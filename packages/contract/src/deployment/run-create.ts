import * as z from 'zod';
import { AssistantRef, Id, Json, JsonObject, Metadata, nullish } from '../json.ts';
import { Config } from './assistants.ts';
import { Command } from './command.ts';
import { StreamModes } from './stream-modes.ts';
import { CheckpointSelector } from './threads.ts';

/** What a client that traces sends with a run. */
export const Tracer = z
  .object({ project_name: nullish(z.string().max(1_024)), example_id: nullish(z.string().max(256)) })
  .describe(
    'For tracers in graphs: copied to `langsmith_project` and `langsmith_example_id` of `configurable`. Traces that the server stores go to its own project',
  );

const Nodes = z.union([z.literal('*'), z.array(z.string().max(256)).max(1_000)]);
const delayMaxSeconds = 30 * 24 * 60 * 60;

const common = {
  assistant_id: AssistantRef,
  input: Json.optional().describe(
    'When it is absent or null, and there is no command, the thread continues from its newest checkpoint',
  ),
  command: nullish(Command),
  metadata: nullish(Metadata),
  config: nullish(Config),
  context: nullish(Json),
  webhook: nullish(z.string().min(1).max(65_536)).describe(
    'An absolute URL that receives a POST when the run has ended',
  ),
  interrupt_before: nullish(Nodes),
  interrupt_after: nullish(Nodes),
  stream_mode: StreamModes,
  stream_subgraphs: nullish(z.boolean()),
  stream_resumable: nullish(z.boolean()),
  feedback_keys: nullish(z.array(z.string().min(1).max(256)).max(100)).describe(
    'A stream ends with an event `feedback`, a wait has `__feedback__`: for each key, a link with which a browser gives feedback on the trace of the run. Ignored when runs are not traced',
  ),
  langsmith_tracer: nullish(Tracer),
  durability: nullish(z.enum(['sync', 'async', 'exit'])),
  checkpoint_during: nullish(z.boolean()).describe('Deprecated. False means the durability `exit`'),
  after_seconds: nullish(z.number().min(0).max(delayMaxSeconds)),
  on_disconnect: nullish(z.enum(['cancel', 'continue'])),
};

export const RunCreate = z
  .object({
    ...common,
    checkpoint: nullish(CheckpointSelector),
    checkpoint_id: nullish(Id),
    multitask_strategy: nullish(z.enum(['reject', 'rollback', 'interrupt', 'enqueue'])),
    if_not_exists: nullish(z.enum(['create', 'reject'])),
  })
  .meta({ id: 'RunCreate' });
export type RunCreate = z.output<typeof RunCreate>;

export const StatelessRunCreate = z
  .object({ ...common, on_completion: nullish(z.enum(['delete', 'keep'])) })
  .meta({ id: 'StatelessRunCreate' });
export type StatelessRunCreate = z.output<typeof StatelessRunCreate>;

export const RunInput = z
  .object({
    input: JsonObject.refine(
      (input) =>
        Object.keys(input).length > 0 && !Object.keys(input).some((key) => /^(__|branch:)/.test(key)),
      'must name channels of the state, which begin with neither "__" nor "branch:"',
    ).describe(
      'An update of the state by channel, such as `{"messages": [...]}`; at most 1,048,576 characters',
    ),
    metadata: nullish(Metadata),
  })
  .meta({ id: 'RunInput' });
