import type { ListedDifference } from './difference.ts';

const states = ['state.body', 'history.body.*'] as const;

/** A member of the state, wherever a stored state is read. */
const inStates = (member: string): string[] => [
  `~ ${states[0]}.values.${member}`,
  `~ ${states[1]}.values.${member}`,
  `~ ${states[1]}.tasks.*.result.${member}`,
];

/** Differences from the stock server for Python graphs. Others are those of JavaScript graphs. */
export const python: readonly ListedDifference[] = [
  {
    behaviour:
      'States, results and events show a value in [the same form](python-values.md#what-can-be-stored), without the fields of a dataclass that begin with an underscore.',
    reason:
      'In states, the stock server shows how its checkpoints store these values: lists of arguments, and all fields. A client needs one reader.',
    where: {
      'kinds of values': [
        ...['date', 'timedelta', 'decimal', 'whole', 'path', 'regex'].flatMap((name) =>
          inStates(`things.${name}`),
        ),
        ...inStates('item.price'),
        ...inStates('place._hidden').map((pattern) => pattern.replace('~', '-')),
      ],
    },
  },
  {
    behaviour: 'An exception in a state is its `repr()`, also in events.',
    reason: 'This text is what is stored. The event equals the state.',
    where: { 'kinds of values': ['~ **.things.error'] },
  },
  {
    behaviour: 'Texts with NUL and with surrogates are not changed.',
    reason: 'The stock server replaces them. Values are restored and sent as they are.',
    where: { 'kinds of values': ['~ **.things.nul'] },
  },
  {
    behaviour: 'Interrupts have `response_schema` in states too.',
    reason: 'They are the interrupts of the events.',
    where: { '*': ['+ **.interrupts.*.response_schema', '+ **.interrupts.*.*.response_schema'] },
  },
  {
    behaviour: 'The state before the first step has only what the input has written.',
    reason: 'States are read without the graph, which knows the initial values of its channels.',
    where: {
      'kinds of values': ['- history.body.*.values.things'],
      '*': ['- history*.body.*.values.log'],
    },
  },
  {
    behaviour:
      'Event streams have the content type `text/event-stream`, and their events have ids that count from 0.',
    reason:
      'The standard defines no other encoding than UTF-8. Any run can be joined after a lost connection.',
    where: {
      '*': [
        '~ **.headers.content-type',
        '~ **.body.ids',
        '+ **.headers.content-location',
        '~ **.headers.location',
      ],
    },
  },
  {
    behaviour:
      'Configurations in events have no users, request ids and times. A checkpoint has no `state` and names its own checkpoint and that of its parent.',
    reason: 'Events are stored and may be read by others. These are the events of JavaScript graphs.',
    where: {
      '*': [
        '- **.configurable.langgraph_auth_user',
        '- **.configurable.langgraph_auth_user_id',
        '- **.configurable.langgraph_auth_permissions',
        '- **.configurable.langgraph_request_id',
        '- **.configurable.__request_start_time_ms__',
        '- **.configurable.__after_seconds__',
        '- **.configurable.user_id',
        '- **.metadata.user_id',
        '- **.tasks.*.state',
        '+ **.tasks.*.checkpoint',
        '+ **.checkpoint',
        '+ **.parent_checkpoint',
      ],
    },
  },
  {
    behaviour: 'Metadata in graphs and events have no version, plan and address of the stock server.',
    reason: 'They do not describe this server.',
    where: { '*': ['- **.langgraph_api_version', '- **.langgraph_api_url'] },
  },
  {
    behaviour:
      'Without `stream_subgraphs`, the mode `messages` sends a message of a subgraph when the state of the graph has it, without its metadata; `messages-tuple` does not send it.',
    reason: 'The tokens of subgraphs are observed for clients that request them.',
    where: {
      'streams of thinking': [
        '- **.events.messages/metadata[*]',
        '* **.events.messages/complete[*]**',
        '- messages-tuple.body.events.messages[*]',
      ],
    },
  },
  {
    behaviour:
      'What a node of a subgraph writes with `get_stream_writer` is an event of the run, also without `stream_subgraphs`.',
    reason: 'As for JavaScript graphs.',
    where: { 'streams of nested': ['+ custom.body.events.custom[*]'] },
  },
  {
    behaviour: 'Runs have the stream modes `tools` and `lifecycle`.',
    reason: 'Current clients request them.',
    where: { '*': ['* tools.**', '* lifecycle.**'] },
  },
  {
    behaviour: 'The result of a tool in the mode `events` has the id that the tool has given it.',
    reason: 'The stock server shows the message after the graph has changed it.',
    where: { 'streams of tools': ['~ **.events.events:on_tool_end:*[*].data.output.id'] },
    mayBeSame: true,
  },
  {
    behaviour: 'A history has up to 10 states if the request has no `limit`.',
    reason: 'The default of the API is 10. The stock server returns one.',
    where: { '*': ['+ history*.body.*'], 'cancelled runs': ['+ interrupt: history.*'] },
  },
  {
    behaviour: '`before` of a history may be the id of a checkpoint.',
    reason: 'JavaScript clients send it.',
    where: { state: ['* history, before.**'] },
  },
  {
    behaviour: 'The response to a state update has only `checkpoint`.',
    reason: 'Other fields repeat it.',
    where: {
      '*': [
        '- update*.body.configurable',
        '- update*.body.checkpoint_id',
        '- *.body.configurable',
        '- *.body.checkpoint_id',
      ],
    },
  },
  {
    behaviour: 'After a state update, the thread is idle.',
    reason: 'No task waits for an answer.',
    where: { state: ['~ thread of updated.body.status'] },
  },
  {
    behaviour:
      '`kwargs` of a run has only what the request has. Objects have no fields that only the stock server needs.',
    reason: 'Fields that were not sent have no value.',
    where: {
      '*': [
        '- **.kwargs.command',
        '- **.kwargs.context',
        '- **.kwargs.interrupt_before',
        '- **.kwargs.interrupt_after',
        '- **.kwargs.webhook',
        '- **.kwargs.feedback_keys',
        '- **.kwargs.checkpoint_during',
        '- **.langsmith_session_name',
        '- **.metadata.assistant_id',
        '+ **.metadata.assistant_id',
        '- *.body.error',
        '- *.body.*.error',
        '+ **.checkpoint.checkpoint_ns',
        '~ **.metadata.checkpoint_id',
      ],
    },
  },
  {
    behaviour: 'Cancelling a run gets 204, without a body.',
    reason: 'As for JavaScript graphs.',
    where: {
      'cancelled runs': ['~ *: cancel.status', '- *: cancel.headers.*', '~ *: cancel.body'],
    },
  },
  {
    behaviour: 'An event stream of a finished run has the events that are stored.',
    reason: 'A client may join a run at any time. The stock server responds with 404.',
    where: {
      joins: [
        '* resumable stream.**',
        '* from the first event.**',
        '* after the first event.**',
        '* after the last event.**',
        '* of a finished run.**',
      ],
    },
  },
  {
    behaviour:
      'Errors have the texts and statuses of JavaScript graphs: 404 for an unknown graph, 400 for a body that is not JSON.',
    reason: 'One API has one kind of errors.',
    where: {
      errors: ['~ **.status', '~ **.problem.detail', '~ **.error'],
      runs: ['* * deleted.problem.detail', '~ * deleted.error', '- join*.headers.*'],
      state: ['~ update of a thread without graph.**'],
      'cancelled runs': ['~ *: update of a busy thread.**'],
    },
  },
];
