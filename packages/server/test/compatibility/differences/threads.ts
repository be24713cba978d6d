import type { ListedDifference } from './difference.ts';

export const threads: readonly ListedDifference[] = [
  {
    behaviour:
      'A thread always has `values`, `interrupts` and `state_updated_at`, also a copy and one that was created with supersteps. It has `error` if its last run failed.',
    reason: 'Clients show a thread without another request, and need no case for one without a state.',
    where: {
      'used threads': ['+ get failed.body.error'],
      '*': ['+ **.interrupts = {}', '+ **.state_updated_at', '+ **.body.values', '+ **.body.*.values'],
    },
  },
  {
    behaviour: '`interrupts` of a thread names only tasks that are interrupted.',
    reason: 'Other tasks wait for no answer.',
    where: { '*': ['- **.body.interrupts.ID = []'] },
  },
  {
    behaviour: 'The configuration of a run is not kept in `config` of its thread.',
    reason:
      'It belongs to the run: a value that one run was given must not reach later runs of other clients.',
    where: { '*': ['- **.config.configurable', '- **.config.tags'] },
  },
  {
    behaviour:
      'A copy of a thread that does not exist, or that the caller may not read, is answered as any other read of it.',
    reason: 'One rule for all routes: 404 if it cannot be seen, 403 if the caller may create no threads.',
    where: {
      threads: ['~ copy deleted.status'],
      auth: ['~ foreign copy.*'],
    },
  },
  {
    behaviour: 'A thread whose run was cancelled is `interrupted` if it has nodes left to run.',
    reason: 'A client can continue it with `input: null`.',
    where: {
      'cancelled runs': ['~ interrupt: status of the thread after'],
      multitask: ['~ reject: thread.body.status'],
    },
  },
];
