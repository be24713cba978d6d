// Sets up a test run like vitest, prints what was provided, and waits to be killed.
import { setup } from '../global-setup.ts';

const provided: Record<string, unknown> = {};
await setup({
  provide: (key, value) => {
    provided[key] = value;
  },
});
process.stdout.write(`${JSON.stringify(provided)}\n`);
setInterval(() => undefined, 60_000);
