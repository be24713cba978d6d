// The results of auth handlers in Python.
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { testHandlerResults } from './handler-results.ts';

describe.skipIf(whyNoPythonClients() !== undefined)('in Python', () => {
  testHandlerResults(fileURLToPath(new URL('./matrix/python.json', import.meta.url)));
});
