import type { ListedDifference } from './difference.ts';

export const states: readonly ListedDifference[] = [
  {
    behaviour:
      'The metadata of a checkpoint contains `source`, `step`, `parents`, `thread_id`, `checkpoint_id`, `graph_id`, `assistant_id`, `run_id`, `writes`, and the metadata of the run or the update. It contains no values of `configurable` and no keys of the engine.',
    reason:
      'It is stored with every checkpoint and visible to every reader of the thread, so it must not contain headers and users. `writes` tells clients what a step wrote.',
    where: {
      '*': [
        '+ **.metadata.checkpoint_id',
        '+ **.metadata.writes',
        '+ **.metadata.graph_id',
        '- **.metadata.created_by = "system"',
        '- **.metadata.run_attempt',
        '- **.metadata.user-agent',
        '- **.metadata.ls_integration',
        '- **.metadata.langgraph_*',
        '- **.metadata.checkpoint_ns',
        '- **.metadata.checkpoint_map',
        '- **.metadata.mine',
      ],
      state: ['+ **.metadata.assistant_id', '~ history at the end.body.*.metadata.checkpoint_id'],
      supersteps: ['+ **.metadata.assistant_id'],
      'state of subgraphs': ['+ **.metadata.assistant_id'],
      'messages in state': ['+ **.metadata.assistant_id'],
      auth: ['+ **.metadata.assistant_id', '- **.metadata.user_id'],
    },
  },
  {
    behaviour: 'A state also has `checkpoint_id` and `parent_checkpoint_id`.',
    reason: 'Older clients read them.',
    where: { '*': ['+ **.checkpoint_id', '+ **.parent_checkpoint_id'] },
  },
  {
    behaviour:
      'A checkpoint has `thread_id`, `checkpoint_ns` and `checkpoint_id`, but no `checkpoint_map`; requests may contain it.',
    reason: 'These three fields identify it, also in a subgraph. Requests may contain the map.',
    where: { '*': ['- **checkpoint.checkpoint_map'] },
  },
  {
    behaviour:
      'The `checkpoint` of a thread without a state is an object with `thread_id`, and null as `checkpoint_id`.',
    reason: 'The type of the field is the same for every thread.',
    where: { threads: ['~ state of an empty thread.body.checkpoint'] },
  },
  {
    behaviour:
      '`error` of a task contains only the message of the error. Its name is in `error` of the run and of the thread.',
    reason: 'Clients show it to users. The name of the error is in `error` of the run and of the thread.',
    where: { 'used threads': ['~ **.tasks.*.error'] },
  },
  {
    behaviour: 'A task that has failed has the `checkpoint` or the `state` of its subgraph.',
    reason: 'They show where the subgraph has failed. Python graphs have them on the stock server, too.',
    where: {},
  },
  {
    behaviour: 'A state has `interrupts`, the interrupts of its tasks.',
    reason: 'Current clients read them there.',
    where: { '*': ['+ **.body.interrupts', '+ **.body.*.interrupts', '+ **.state.interrupts'] },
  },
  {
    behaviour: 'A checkpoint that does not exist gets 404.',
    reason: 'Otherwise a client with a wrong id would show an empty conversation.',
    where: {
      state: ['~ at unknown checkpoint.status', '* at unknown checkpoint.**'],
    },
  },
  {
    behaviour: 'An update with `as_node` gets 422 if the graph does not have this node.',
    reason: 'The request is invalid.',
    where: { state: ['~ update as unknown node.*'] },
  },
  {
    behaviour:
      '`PATCH /threads/{id}/state` [merges metadata](threads-and-runs.md#states-forks-copies); keys that the server sets stay.',
    reason: 'Stock clients have `patchState`. The engine reads keys such as `step`.',
    where: {},
  },
];
