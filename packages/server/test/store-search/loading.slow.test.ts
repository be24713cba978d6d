// Embedding models that loading.test.ts does not name, and that cannot be loaded either.
import { it } from 'vitest';
import { expectFailedModule } from './embed-projects.ts';

it.each([
  ['does not have the export', 'export const other = 1;', /does not export embed; it exports other/],
  [
    'exports something else',
    'export const embed = 1;',
    /neither a function \(texts\) => vectors nor an object/,
  ],
])(
  'the embedding model that %s is logged at the start, and named by /ready and to clients',
  (_, code, sentence) => expectFailedModule(code, sentence),
);
