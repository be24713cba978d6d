import type { ListedDifference } from './difference.ts';

export const streams: readonly ListedDifference[] = [
  {
    behaviour: 'A stream has the events of the requested modes only.',
    reason: 'A client can rely on the list that it sent.',
    where: {
      'streams of * with subgraphs': ['- **.body.events.checkpoints[*]', '- **.body.events.checkpoints|*[*]'],
    },
  },
  {
    behaviour:
      'Events of the mode `checkpoints` have the whole checkpoint: also `config`, `checkpoint`, their parents, and `tasks`.',
    reason: 'A client that follows a run can use them as states.',
    where: {
      'streams of *': ['* checkpoints.body.events.checkpoints*.*'],
    },
  },
  {
    behaviour:
      'Events of the mode `debug` have null where a checkpoint has no parent, and where a task has no checkpoint. Configurations of subgraphs have `run_name`.',
    reason: 'They are the events of the engine without private keys.',
    where: {
      'streams of *': [
        '+ debug.**.payload.parent_config = null',
        '+ debug.**.payload.tasks.*.checkpoint = null',
        '- debug.**.tasks.*.checkpoint.checkpoint_id = null',
        '+ debug.**.run_name',
        '- debug.**.configurable.user-agent',
      ],
    },
  },
  {
    behaviour: 'The mode `messages` sends `messages/complete` also with `stream_subgraphs`.',
    reason: 'Clients that request subgraphs need the messages of the run too.',
    where: { 'streams of * with subgraphs': ['+ **.events.messages/complete[*]'] },
  },
];
