// The results of auth handlers in JavaScript.
import { fileURLToPath } from 'node:url';
import { testHandlerResults } from './handler-results.ts';

testHandlerResults(fileURLToPath(new URL('./matrix/svc.json', import.meta.url)));
