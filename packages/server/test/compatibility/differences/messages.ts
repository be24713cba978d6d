import type { ListedDifference } from './difference.ts';

export const messages: readonly ListedDifference[] = [
  {
    behaviour:
      'A message has the same fields in states, results and events; `name`, `id`, `usage_metadata` (null) and `example` (false) also without a value.',
    reason:
      'Clients do not have to handle missing fields, and a message in an event equals the message in the state.',
    where: {
      '*': ['+ **.name = null', '+ **.id = null', '+ **.usage_metadata = null', '+ **.example = false'],
    },
  },
  {
    behaviour:
      'If a model returns a message without an id, the generated id begins with `run-` only in runs that stream tokens.',
    reason: 'In other runs the model is not streamed. Ids of messages are opaque.',
    where: {
      '*': ['~ **.messages.*.id'],
      'streams of tools': ['~ **.events.messages/complete[*].*.id'],
    },
  },
  {
    behaviour: 'A complete message has no `tool_call_chunks`.',
    reason:
      'They are parts of `tool_calls`, which only tokens need. The message in `updates` equals the message in `values`.',
    where: { '*': ['- **.tool_call_chunks = []'] },
  },
];
