import type { ListedDifference } from './difference.ts';

export const messages: readonly ListedDifference[] = [
  {
    behaviour:
      'A message has the same fields everywhere, in states, results and events: `name`, `id` and `usage_metadata` are null, and `example` is false, if the message has none.',
    reason:
      'Clients need no case for a field that is missing, and a message in an event equals the message in the state.',
    where: {
      '*': ['+ **.name = null', '+ **.id = null', '+ **.usage_metadata = null', '+ **.example = false'],
    },
  },
  {
    behaviour: 'The id of a message that came without one begins with `run-` only if the run streams tokens.',
    reason: 'Models stream only if somebody reads their tokens. Ids of messages are opaque.',
    where: {
      '*': ['~ **.messages.*.id'],
      'streams of tools': ['~ **.events.messages/complete[*].*.id'],
    },
  },
  {
    behaviour: 'A message that is complete has no `tool_call_chunks`.',
    reason:
      'They are parts of `tool_calls`, and belong to tokens. The message in `updates` equals the one in `values`.',
    where: { '*': ['- **.tool_call_chunks = []'] },
  },
];
