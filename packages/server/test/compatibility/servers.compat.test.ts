// Sends the same requests to this server and to the open dev server, and compares the responses. Every difference is listed in
// differences/, with its reason; one that is not listed fails, and so does an entry that no longer occurs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareSteps, type Difference } from './compare.ts';
import { listed } from './differences/all.ts';
import { ListedPatterns } from './differences/listed-patterns.ts';
import { startServers, type Servers } from './servers.ts';
import { scenarios } from './scenarios/all.ts';
import { Wire } from './wire.ts';
import { scaled } from '../speed.ts';

let servers: (Servers & AsyncDisposable) | undefined;
beforeAll(async () => {
  servers = await startServers();
}, scaled(300_000));
afterAll(() => servers?.[Symbol.asyncDispose]());

const patterns = new ListedPatterns(Object.values(listed).flat());

const shown = ({ path, ...values }: Difference): string => `${path} ${JSON.stringify(values).slice(0, 500)}`;

describe('the responses differ only as listed', () => {
  it.concurrent.for(scenarios)('$name', async (scenario, { expect }) => {
    const { here, there } = (scenario.auth ? servers?.auth : servers?.open) ?? { here: '', there: '' };
    const [ours, theirs] = [new Wire(here), new Wire(there)];
    await Promise.all([scenario.run(ours), scenario.run(theirs)]);
    const differences = compareSteps(ours.recorded, theirs.recorded);
    const unlisted = differences.filter((difference) => !patterns.take(scenario.name, difference));
    expect(unlisted.map(shown)).toEqual([]);
  });
});

it('every listed difference occurs', () => {
  expect(patterns.untaken()).toEqual([]);
});
