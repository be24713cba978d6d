// Sets a test run up as vitest does, says what it was given, and then waits to be killed.
import { setup } from '../global-setup.ts';

const given: Record<string, unknown> = {};
await setup({
  provide: (key, value) => {
    given[key] = value;
  },
});
process.stdout.write(`${JSON.stringify(given)}\n`);
setInterval(() => undefined, 60_000);
