import type { ListedDifference } from './difference.ts';

export const streams: readonly ListedDifference[] = [
  {
    behaviour: 'Runs have the stream mode `lifecycle`.',
    reason: 'Current clients request it to show subgraphs.',
    where: { 'streams of *': ['* lifecycle.**'] },
  },
  {
    behaviour: 'A stream has only the events of the requested modes.',
    reason: 'A client can rely on the list that it sent.',
    where: {
      'streams of * with subgraphs': ['- **.body.events.checkpoints[*]', '- **.body.events.checkpoints|*[*]'],
    },
  },
  {
    behaviour:
      'Events of the mode `checkpoints` contain the whole checkpoint, including `config`, `checkpoint`, their parents, and `tasks`.',
    reason: 'Clients can use them as states.',
    where: {
      'streams of *': ['* checkpoints.body.events.checkpoints*.*'],
    },
  },
  {
    behaviour:
      'Events of the mode `debug` contain null for a parent or a checkpoint that does not exist. Configurations of subgraphs have `run_name`.',
    reason: 'These are the events of the engine, without private keys.',
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
    behaviour: 'The mode `messages` also sends `messages/complete` with `stream_subgraphs`.',
    reason: 'Clients that request subgraphs also need the messages of the run.',
    where: { 'streams of * with subgraphs': ['+ **.events.messages/complete[*]'] },
  },
];
