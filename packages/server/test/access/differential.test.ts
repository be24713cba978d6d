// Two users, every route, with auth handlers in JavaScript.
import { fileURLToPath } from 'node:url';
import { testTwoUsers } from './two-users.ts';

testTwoUsers(fileURLToPath(new URL('./project/svc.json', import.meta.url)));
