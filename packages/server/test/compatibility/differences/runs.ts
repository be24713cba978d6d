import type { ListedDifference } from './difference.ts';

export const runs: readonly ListedDifference[] = [
  {
    behaviour:
      'The default of `multitask_strategy` is `enqueue`: a second run on a thread waits. With `reject`, the second run gets 409.',
    reason:
      '`enqueue` is the default of current deployments. 409 says that the request is valid and may be repeated.',
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
      '`kwargs` of a run has the fields of its request alone, with their names; graphs get `config` and `context` merged with those of assistant and thread.',
    reason:
      'This keeps the request separate from the values that the assistant and the thread add. Graphs get all values, merged.',
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
      'A run and its checkpoints have the metadata of the run alone; graphs also get that of assistant and thread.',
    reason:
      'A search by metadata finds only the runs that were created with it, not all runs of an assistant.',
    where: {
      '*': ['- **.body.metadata.graph_id', '- **.body.metadata.assistant_id'],
      runs: ['- list.body.*.metadata.*'],
      errors: ['- failed run.body.*.metadata.*'],
      configs: ['- *: runs.body.*.metadata.*'],
      auth: ['- *: list runs.body.*.metadata.*', '- *: state.body.metadata.*'],
    },
  },
  {
    behaviour:
      'A run has `attempt` (its starts, again after a lost worker), `started_at`, `ended_at`, and `error` or `cancel_reason` if it failed or was cancelled.',
    reason:
      '`attempt` counts the starts of the run: it starts again when its worker is lost. The times separate waiting from executing. `error` says why it failed, and `cancel_reason` why it was cancelled.',
    where: {
      '*': ['+ **.attempt', '+ **.started_at', '+ **.ended_at', '+ **.cancel_reason'],
      errors: ['+ failed run.body.0.error'],
    },
  },
  {
    behaviour: 'The status of a new run is `running` if it has started already.',
    reason: 'A run starts in the request that creates it if a slot is free.',
    where: { '*': ['~ **.status = "running"'] },
  },
  {
    behaviour: 'Runs are listed newest first.',
    reason: 'Clients show the newest runs first.',
    where: { runs: ['~ order of the list.*'] },
  },
  {
    behaviour:
      'Responses to runs have the header `Location`, with the path that continues the stream or the wait.',
    reason: 'Clients need it to reconnect.',
    where: { '*': ['+ **.headers.location'] },
  },
  {
    behaviour:
      '`Content-Location` of a stateless run contains a thread id. With it, clients can join and cancel the run.',
    reason: 'All routes of runs work for stateless runs.',
    where: { '*': ['~ **.headers.content-location'] },
  },
  {
    behaviour: 'Events of a stateless run have ids.',
    reason: 'A client can continue the stream after a lost connection, as with other runs.',
    where: { 'stateless runs': ['~ stream.body.ids'] },
  },
  {
    behaviour: '`__error__` in the result of a wait contains the name and the message of the error.',
    reason: 'It is the same object as in `error` of the run and in the `error` event.',
    where: { '*': ['~ **.body.__error__.*'] },
  },
  {
    behaviour:
      'The result of a run that reaches an interrupt contains the values and `__interrupt__`. A stateless run has them too, but nobody can answer its interrupt.',
    reason:
      'The client gets the question and the state that led to it. An interrupt of a stateless run cannot be answered, because the run keeps no state.',
    where: {
      interrupts: ['+ wait.body.log'],
      breakpoints: ['+ wait.body.log'],
      'parallel interrupts': ['+ wait.body.log'],
      'stateless runs': ['* wait for an interrupt.body.*'],
    },
  },
  {
    behaviour: 'A rollback deletes the run, and the thread has the state from before the run.',
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
    reason: 'Nothing was cancelled; clients that stop a run ignore this error.',
    where: { runs: ['* cancel finished.**'] },
  },
  {
    behaviour: 'Joining a run that does not exist gets 404.',
    reason: 'A client can distinguish a deleted run from a failed run.',
    where: { runs: ['* join deleted.**'], joins: ['* wait by another thread.**'] },
  },
  {
    behaviour:
      'Joining the stream of a run that is not visible to the caller returns one event, `error` with `{error, message}`; 404 without a file of the stock server.',
    reason:
      'The event has the same form as other errors of streams. In projects without a file of the stock server, the response is 404.',
    where: { joins: ['* by another thread.**', '* of an unknown run.**'] },
  },
  {
    behaviour:
      'Graphs get a request header only if `http.configurable_headers` names it. They get the id of the user as `langgraph_auth_user_id`, not as `user_id`.',
    reason: 'Headers may contain credentials, and configurations are stored.',
    where: {
      configs: ['- **.out.user-agent', '- **.out.x-custom'],
      auth: ['- **.out.user-agent', '- **.out.user_id'],
    },
  },
  {
    behaviour:
      'The metadata in graphs and events does not contain the version and the plan of the stock server.',
    reason: 'They do not describe this server.',
    where: {
      configs: ['- **.out.langgraph_*'],
      'streams of *': ['- **.langgraph_version', '- **.langgraph_plan', '- **.langgraph_host'],
    },
  },
  {
    behaviour: '`context` is undefined in a graph if neither the run nor its assistant has one.',
    reason:
      'Then the engine takes the values of a context schema from `configurable`, where older clients send them.',
    where: { '*': ['- **.out = {}'] },
  },
  {
    behaviour: 'The result of a run that stops at several questions has all of them in `__interrupt__`.',
    reason: 'As that of the engine. The client can answer all of them with one command.',
    where: {
      'parallel interrupts': [
        '~ wait.body.__interrupt__.*.value',
        '+ wait.body.__interrupt__.*',
        '~ thread.body.interrupts.**.id',
        '~ state.body.tasks.*.interrupts.*.id',
      ],
    },
  },
];
