import type { ListedDifference } from './difference.ts';

export const states: readonly ListedDifference[] = [
  {
    behaviour:
      'The metadata of a checkpoint is `source`, `step`, `parents`, `thread_id`, `checkpoint_id`, `graph_id`, `assistant_id`, `run_id`, `writes`, and the metadata of the run or the update. It has no values of `configurable` and no keys of the engine.',
    reason:
      'It is stored with every checkpoint, and any reader of the thread sees it: headers and users do not belong there. Clients find what a step wrote in `writes`.',
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
    behaviour: 'A checkpoint is `thread_id`, `checkpoint_ns` and `checkpoint_id`, without `checkpoint_map`.',
    reason: 'These three identify it, also within a subgraph. A request may contain the map.',
    where: { '*': ['- **checkpoint.checkpoint_map'] },
  },
  {
    behaviour: 'The checkpoint of a thread without a state has its `thread_id` and null as `checkpoint_id`.',
    reason: 'The type of the field is the same for every thread.',
    where: { threads: ['~ state of an empty thread.body.checkpoint'] },
  },
  {
    behaviour: '`error` of a task is the message of the error.',
    reason: 'It is a text to show. The name of the error is in `error` of the run and the thread.',
    where: { 'used threads': ['~ **.tasks.*.error'] },
  },
  {
    behaviour: 'A state has `interrupts`: those of its tasks.',
    reason: 'Current clients read them there.',
    where: { '*': ['+ **.body.interrupts', '+ **.body.*.interrupts', '+ **.state.interrupts'] },
  },
  {
    behaviour: 'A checkpoint that does not exist gets 404.',
    reason: 'A client that has a wrong id would otherwise show an empty conversation.',
    where: {
      state: ['~ at unknown checkpoint.status', '* at unknown checkpoint.**'],
    },
  },
  {
    behaviour: 'An update as a node that the graph does not have gets 422.',
    reason: 'It is a fault of the request.',
    where: { state: ['~ update as unknown node.*'] },
  },
];
