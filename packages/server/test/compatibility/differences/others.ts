import type { ListedDifference } from './difference.ts';

export const others: readonly ListedDifference[] = [
  {
    behaviour: 'The routes of [crons](crons.md) work.',
    reason: 'The server creates runs on schedules.',
    where: { crons: ['* **'] },
  },
  {
    behaviour: '`/info` has the versions of this server, and a flag for each feature.',
    reason: 'Clients read the flags to decide which features they show.',
    where: {
      '*': ['~ **.body.version', '+ **.body.svc_version', '+ **.body.metadata = {}', '* **.body.flags.*'],
    },
  },
  {
    behaviour: '`/ok` needs no authentication.',
    reason: 'Load balancers call it. It only says that the server runs.',
    where: { auth: ['* ok without token.**'] },
  },
  {
    behaviour:
      'Objects that a user creates have `svc_auth_user_id` in their metadata. Graphs also get the user under the names of svc.',
    reason: '`svc_auth_user_id` is the owner. Clients can search threads by it.',
    where: { auth: ['+ **.metadata.svc_auth_user_id', '+ **.out.svc_auth_*'] },
  },
  {
    behaviour: 'The namespace that an auth handler sets counts in searches of the store too.',
    reason: 'A handler that gives each user a namespace must do so for every operation.',
    where: { auth: ['+ *: search items.body.items.*'] },
  },
  {
    behaviour:
      'The headers `langsmith-trace` and `baggage` (`distributed_tracing` of RemoteGraph) are ignored: each run has its own trace, which callers find by metadata of the run.',
    reason:
      'The headers are not authenticated. A caller could add runs to the traces of others, and choose the project, the metadata and the server to which traces are sent.',
    where: {},
  },
  {
    behaviour:
      'With `store.index`, searches of the store with a `query` [compare by meaning](store.md#searches-by-meaning).',
    reason: 'This is what the section configures.',
    where: {},
  },
  {
    behaviour:
      'Components of `ui` are [built without Tailwind](generative-ui.md#builds). Their names have [fewer characters](generative-ui.md).',
    reason: 'Tailwind has a build of its own. A name becomes a part of HTML and of a script.',
    where: {},
  },
  {
    behaviour:
      'An [auth file in Python](python-projects.md#auth-files) executes in a process of its own: handlers get the fields of the user, not its object. A parameter `body` prevents the start.',
    reason:
      'A handler that computes or crashes must not stop the server. The stock server accepts a parameter `body`, and fails with it for every request.',
    where: {},
  },
  {
    behaviour:
      'An [app in Python](python-projects.md#routes-of-your-own) executes in a process of its own, and its WebSockets are not served.',
    reason:
      'An app that blocks or crashes must not stop the server. Apps in JavaScript have no WebSockets either.',
    where: {},
  },
];
