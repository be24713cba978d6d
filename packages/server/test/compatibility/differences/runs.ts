import type { ListedDifference } from './difference.ts';

export const runs: readonly ListedDifference[] = [
  {
    behaviour:
      'The default of `multitask_strategy` is `enqueue`: a second run on a thread waits. A run that is rejected gets 409.',
    reason:
      'It is the default of current deployments. 409 says that the request is valid and may be repeated.',
    where: {
      '*': ['~ **.multitask_strategy'],
      multitask: [
        '* default: second*',
        '* default: second.**',
        '* default: result of second',
        '~ reject: second.status',
      ],
    },
  },
  {
    behaviour:
      '`kwargs` of a run is its request, under the names of the request. `config` and `context` are those of the request.',
    reason:
      'What the run was asked for stays apart from what its assistant and thread add. Graphs see all of it, merged.',
    where: {
      '*': [
        '+ **.kwargs.stream_subgraphs',
        '+ **.kwargs.stream_resumable',
        '+ **.kwargs.durability',
        '- **.kwargs.subgraphs',
        '- **.kwargs.resumable',
        '- **.kwargs.temporary',
        '- **.kwargs.context = {}',
        '- **.kwargs.config',
      ],
      runs: ['- **.kwargs.config.metadata', '- **.kwargs.config.configurable.*'],
      configs: ['- **.kwargs.config.*', '- **.kwargs.config.configurable.*', '- **.kwargs.context.assistant'],
    },
  },
  {
    behaviour:
      'A run and its checkpoints have the metadata of the run. Graphs see that of the assistant and the thread too.',
    reason: 'A search by metadata finds the runs that were marked, not all runs of an assistant.',
    where: {
      '*': ['- **.body.metadata.graph_id', '- **.body.metadata.assistant_id'],
      runs: ['- list.body.*.metadata.*'],
      errors: ['- failed run.body.*.metadata.*'],
      configs: ['- *: runs.body.*.metadata.*'],
      auth: ['- *: list runs.body.*.metadata.*', '- *: state.body.metadata.*'],
    },
  },
  {
    behaviour: 'A run has `attempt`, and `error` if it failed.',
    reason: 'They say how often the run was started, after the loss of a worker, and why it failed.',
    where: { '*': ['+ **.attempt'], errors: ['+ failed run.body.0.error'] },
  },
  {
    behaviour: 'The status of a new run is `running` if it has started already.',
    reason: 'A run starts in the request that creates it if a slot is free.',
    where: { '*': ['~ **.status = "running"'] },
  },
  {
    behaviour: 'Runs are listed newest first.',
    reason: 'The first page has the runs that a client shows.',
    where: { runs: ['~ order of the list.*'] },
  },
  {
    behaviour: 'Responses to runs have `Location`: the path that continues the stream or the wait.',
    reason: 'Clients need it to reconnect.',
    where: { '*': ['+ **.headers.location'] },
  },
  {
    behaviour:
      '`Content-Location` of a stateless run has the id of its thread, by which it can be joined and cancelled.',
    reason: 'All routes of runs work for stateless runs.',
    where: { '*': ['~ **.headers.content-location'] },
  },
  {
    behaviour: 'Events of a stateless run have ids.',
    reason: 'They can be continued after a lost connection as those of other runs.',
    where: { 'stateless runs': ['~ stream.body.ids'] },
  },
  {
    behaviour: '`__error__` in the result of a wait has the name and the message of the error.',
    reason: 'It is the same object as in `error` of the run and in the `error` event.',
    where: { '*': ['~ **.body.__error__.*'] },
  },
  {
    behaviour:
      'The result of a run that reaches an interrupt is its values with `__interrupt__`, also of a stateless run.',
    reason:
      'The client sees the question and what led to it. That of a stateless run cannot be answered: it keeps no state.',
    where: {
      interrupts: ['+ wait.body.log'],
      breakpoints: ['+ wait.body.log'],
      'parallel interrupts': ['+ wait.body.log'],
      'stateless runs': ['* wait for an interrupt.body.*'],
    },
  },
  {
    behaviour: 'A rollback deletes the run, and the thread is as before it.',
    reason: 'The next run must not see what was undone.',
    where: {
      'cancelled runs': [
        '* rollback: run.**',
        '* rollback: history.**',
        '~ rollback: status of the thread after',
        '- rollback: stream.body.events.error[0]',
      ],
      multitask: ['* rollback: first run.**', '- rollback: first.body.events.error[0]'],
    },
  },
  {
    behaviour: 'Cancelling a run that has ended gets 404.',
    reason: 'Nothing was cancelled; clients that stop a run ignore it.',
    where: { runs: ['* cancel finished.**'] },
  },
  {
    behaviour: 'The result of a run that does not exist is 404.',
    reason: 'A client can tell a run that is gone from one that failed.',
    where: { runs: ['* join deleted.**'], joins: ['* wait by another thread.**'] },
  },
  {
    behaviour:
      'Joining the stream of a run that cannot be read gives one `error` event with `{error, message}`.',
    reason:
      'The event has the same form as other errors of streams. In projects without a file of the stock server, it is 404.',
    where: { joins: ['* by another thread.**', '* of an unknown run.**'] },
  },
  {
    behaviour:
      'Graphs see request headers only if `http.configurable_headers` names them, and the id of a user as `langgraph_auth_user_id`.',
    reason: 'Headers may contain credentials, and configurations are stored.',
    where: {
      configs: ['- **.out.user-agent', '- **.out.x-custom'],
      auth: ['- **.out.user-agent', '- **.out.user_id'],
    },
  },
  {
    behaviour: 'The metadata that graphs and events see has no version and plan of the stock server.',
    reason: 'They do not describe this server.',
    where: {
      configs: ['- **.out.langgraph_*'],
      'streams of *': ['- **.langgraph_version', '- **.langgraph_plan', '- **.langgraph_host'],
    },
  },
  {
    behaviour: '`context` is undefined in a graph if neither the run nor its assistant has one.',
    reason:
      'The engine then takes the values of a context schema from `configurable`, where older clients send them.',
    where: { '*': ['- **.out = {}', '~ **.out = null'] },
  },
];
