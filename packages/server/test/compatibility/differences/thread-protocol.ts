import type { ListedDifference } from './difference.ts';

const scenarios = 'thread protocol*';

export const threadProtocol: readonly ListedDifference[] = [
  {
    behaviour:
      '`meta.applied_through_seq` of responses to commands is 0, because another process may execute the run. Responses with errors have `meta` too.',
    reason:
      'Any process may execute the run, so the number of its newest event is not known where the command arrives. Clients find the first event of their run by its id.',
    where: { [scenarios]: ['~ *.body.meta.applied_through_seq', '+ *.body.meta'] },
  },
  {
    behaviour: 'The data of `updates` is `{node, values}`, as in the types of the protocol.',
    reason: 'An update says which node has made it.',
    where: {
      [scenarios]: [
        '+ *.updates*.node',
        '+ *.updates*.values',
        '- *.updates*.messages',
        '- *.updates*.log',
        '+ *.updates[*]',
        '- *.updates[*]',
      ],
    },
  },
  {
    behaviour:
      'Each task reports its start and its end in `lifecycle`. A task that contains an interrupted task is interrupted too.',
    reason: 'Clients show what runs at the moment. The task has not completed.',
    where: {
      [scenarios]: ['+ *.lifecycle *[*]', '- *.lifecycle *:completed[*]'],
    },
  },
  {
    behaviour:
      'Python clients get the [events of the stock server for Python graphs](thread-protocol.md#python-clients).',
    reason:
      'The stock servers differ in some events, and each client reads those of the server of its language.',
    where: {},
  },
  {
    behaviour:
      'What a node writes with a `name` and without a `payload` has itself as `payload`. Only a text is a name.',
    reason: 'The JavaScript client reads only `payload` of a named event.',
    where: {},
  },
  {
    behaviour:
      'A [stream transformer](thread-protocol.md#events) adds `custom` events, but removes none when `process` returns false. Only transformers of the run see events that it pushes with the emitter.',
    reason: 'The log of a run has what its graph has done, for every reader.',
    where: {},
  },
  {
    behaviour:
      'A message begins with its role and its model, and ends with the reason why it ended. `run_id` of a message that no model has streamed is the id of the message.',
    reason:
      'Clients can show a message while it streams. All events of a message have the same `run_id` for every reader.',
    where: {
      [scenarios]: [
        '+ *.messages *:message-start[*].role',
        '+ *.messages *:message-start[*].metadata',
        '+ *.messages *:message-finish[*].reason',
        '- *.messages *:message-finish[*].responseMetadata',
        '~ *.messages *.run_id',
      ],
    },
  },
  {
    behaviour: 'A message that a node returns without streaming it has content blocks for its tool calls.',
    reason: 'Streamed messages have them too.',
    where: { [scenarios]: ['+ *.messages ask:ID:content-block-*[*]'] },
  },
  {
    behaviour:
      'Content in states and in results of tasks is what the graph has stored. Models are not asked for content blocks (`output_version`).',
    reason:
      'The state does not depend on the client that has started the run. The events of `messages` have content blocks.',
    where: {
      [scenarios]: [
        '~ chat feed.**.content',
        '- chat feed.**.response_metadata',
        '- chat feed.**.response_metadata.*',
        '+ chat feed.tasks**.tool_call_chunks',
        '- chat feed.tasks**.content_blocks',
      ],
    },
  },
  {
    behaviour: 'Messages of tools in states have `metadata`, and none has an id before it is in the state.',
    reason: 'These are the fields of the engine. The id is the same after every restart.',
    where: { [scenarios]: ['+ tools feed.values*.messages.*.metadata', '~ tools feed.tools *.output.id'] },
  },
  {
    behaviour: 'An answered interrupt is reported as `input.answered`, before the run that continues.',
    reason: 'Other pages of the thread stop asking.',
    where: { [scenarios]: ['+ answered.input.answered[*]'] },
  },
  {
    behaviour:
      'An answer to an interrupt at which the thread does not wait gets `no_such_interrupt`, and starts nothing.',
    reason: 'A run would ask again, and the client could not tell that its answer was lost.',
    where: {
      [scenarios]: [
        '~ unknown interrupt.body.type',
        '+ unknown interrupt.body.error',
        '+ unknown interrupt.body.message',
        '- unknown interrupt.body.result',
        '~ respond again.body.error',
        '~ respond again.body.message',
      ],
    },
  },
  {
    behaviour: 'Other messages of errors of commands name the parameter.',
    reason: 'As in all errors of this server.',
    where: {
      [scenarios]: [
        '~ unknown method.body.message',
        '~ not supported.body.message',
        '~ without an assistant.body.message',
      ],
    },
  },
  {
    behaviour: 'The tree of a thread names its newest run in `metadata.run_id`.',
    reason: 'Clients can read the run.',
    where: { [scenarios]: ['+ tree.body.result.tree.metadata'] },
  },
  {
    behaviour:
      'A new feed [does not contain the end of an ended run](thread-protocol.md#events) if the thread has a newer run.',
    reason: 'Clients mistake the end of any run for the end of the run that they have started.',
    where: { 'thread protocol interrupts': ['- answered.lifecycle:*'] },
  },
];
