import type { ListedDifference } from './difference.ts';

export const assistants: readonly ListedDifference[] = [
  {
    behaviour: 'An assistant that is created without a name has the id of its graph as name.',
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
      'In pages, `X-Pagination-Total` is the number of all results, and `X-Pagination-Next` the offset of the next page if there is one.',
    reason: 'Clients read the next page by them.',
    where: { '*': ['* **.headers.x-pagination-*'] },
  },
  {
    behaviour:
      'Schemas of subgraphs are also under the names that those of assistants have: `input_schema`, `state_schema`, …',
    reason: 'Clients read both.',
    where: { graphs: ['+ **.sub.*_schema'] },
  },
  {
    behaviour: 'The schema of a state from a zod object names its required members.',
    reason: 'A state has all of them.',
    where: { graphs: ['+ **.state.required'], schemas: ['+ described.body.state_schema.required'] },
  },
  {
    behaviour:
      'Schemas describe a graph by what it has at run time. Members of an `Annotation` have a name, and the type of their default; a context that is an `Annotation` has no schema.',
    reason:
      'The types of TypeScript sources are not read: that needs a compiler, and takes long. A zod object has all types.',
    where: { schemas: ['* annotated.body.**'] },
  },
];
