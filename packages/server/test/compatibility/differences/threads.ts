import type { ListedDifference } from './difference.ts';

export const threads: readonly ListedDifference[] = [
  {
    behaviour:
      'Every thread has `values`, `interrupts` and `state_updated_at`, also copies and threads from supersteps. A thread has `error` if its last run failed.',
    reason:
      'Clients can show a thread without another request, and do not have to handle threads without these fields.',
    where: {
      'used threads': ['+ get failed.body.error'],
      '*': ['+ **.interrupts = {}', '+ **.state_updated_at', '+ **.body.values', '+ **.body.*.values'],
    },
  },
  {
    behaviour: '`interrupts` of a thread contains only tasks that are interrupted.',
    reason: 'Other tasks do not wait for an answer.',
    where: { '*': ['- **.body.interrupts.ID = []'] },
  },
  {
    behaviour: 'The server does not store the configuration of a run in `config` of its thread.',
    reason: 'The configuration belongs to the run: later runs of other clients must not get its values.',
    where: { '*': ['- **.config.configurable', '- **.config.tags'] },
  },
  {
    behaviour:
      'Copying a thread that does not exist, or that the caller may not read, gets the same error as reading it; 403 if the caller may not create threads.',
    reason:
      'All routes have the same rule: 404 if the thread is not visible to the caller, 403 if the caller may not create threads.',
    where: {
      threads: ['~ copy deleted.status'],
      auth: ['~ foreign copy.*'],
    },
  },
  {
    behaviour:
      'The thread of a cancelled run is `interrupted` if the graph has not reached its end; a run with `input: null` continues it.',
    reason: 'A client can continue the thread with `input: null`.',
    where: {
      'cancelled runs': ['~ interrupt: status of the thread after'],
      multitask: ['~ reject: thread.body.status'],
    },
  },
];
