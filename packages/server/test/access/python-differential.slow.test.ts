// Two users, every route, with auth handlers in Python.
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { testTwoUsers } from './two-users.ts';

describe.skipIf(whyNoPythonClients() !== undefined)('in Python', () => {
  testTwoUsers(fileURLToPath(new URL('./project/python.json', import.meta.url)));
});
