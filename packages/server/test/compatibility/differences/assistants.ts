import type { ListedDifference } from './difference.ts';

export const assistants: readonly ListedDifference[] = [
  {
    behaviour: 'An assistant that is created without a name gets the id of its graph as its name.',
    reason: 'Lists show what the assistant is.',
    where: { assistants: ['~ **.name'] },
  },
  {
    behaviour: 'Versions of an assistant have `updated_at`.',
    reason: 'A version has the fields of an assistant.',
    where: { assistants: ['+ versions.body.*.updated_at'] },
  },
  {
    behaviour: 'An assistant of a graph that does not exist is refused with 404.',
    reason: 'It could never run.',
    where: { assistants: ['* create for unknown graph.**'] },
  },
  {
    behaviour: 'Deleting an assistant gets 204.',
    reason: 'All deletions have this status.',
    where: { assistants: ['~ delete.status', '~ delete.body', '- delete.headers.content-type'] },
  },
  {
    behaviour:
      '`X-Pagination-Total` is the number of all results ([threads: up to 1,000](threads-and-runs.md#searching)). `X-Pagination-Next` is the offset of the next page, and absent on the last one.',
    reason: 'Clients need them to read the next page.',
    where: { '*': ['* **.headers.x-pagination-*'] },
  },
  {
    behaviour:
      'A subgraph also has its schemas under the names that assistants use: `input_schema`, `state_schema`, …, and the `graph_id` of its assistant.',
    reason: 'Clients read both names, and the types of the Python client have `graph_id`.',
    where: { graphs: ['+ **.sub.*_schema', '+ **.sub.graph_id'] },
  },
  {
    behaviour: 'The schema of a state that is a zod object lists its required members.',
    reason: 'Every state has all of them.',
    where: { graphs: ['+ **.state.required'], schemas: ['+ described.body.state_schema.required'] },
  },
  {
    behaviour:
      'Schemas come from the graph at run time, not from the types of TypeScript sources: [what they contain](configuration.md#schemas).',
    reason:
      'The server does not read types from TypeScript sources: this needs a compiler, and is slow. The schema of a zod object has all types.',
    where: { schemas: ['* annotated.body.**'] },
  },
];
