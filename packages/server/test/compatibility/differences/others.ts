import type { ListedDifference } from './difference.ts';

export const others: readonly ListedDifference[] = [
  {
    behaviour: 'The routes of [crons](crons.md) work.',
    reason: 'The server creates runs on schedules.',
    where: { crons: ['* **'] },
  },
  {
    behaviour: '`/info` has the versions of this server, and a flag for each feature.',
    reason: 'Clients show features by the flags.',
    where: {
      '*': ['~ **.body.version', '+ **.body.svc_version', '+ **.body.metadata = {}', '* **.body.flags.*'],
    },
  },
  {
    behaviour: '`/ok` needs no authentication.',
    reason: 'Load balancers call it. It tells nothing but that the server runs.',
    where: { auth: ['* ok without token.**'] },
  },
  {
    behaviour:
      'Metadata of what a user creates has `svc_auth_user_id`. Graphs see the user under the names of svc as well.',
    reason: 'It is the owner, by which threads can be searched.',
    where: { auth: ['+ **.metadata.svc_auth_user_id', '+ **.out.svc_auth_*'] },
  },
  {
    behaviour: 'A namespace that an auth handler sets holds for searches of the store too.',
    reason: 'A handler that gives each user a namespace must do so for every operation.',
    where: { auth: ['+ *: search items.body.items.*'] },
  },
];
