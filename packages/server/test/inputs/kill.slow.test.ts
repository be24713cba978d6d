// kill -9 of the executor, or of the whole worker, at each step of an input: it is taken once, and in its order. SVC_KILL_ROUNDS sets the number of kills.
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { collect } from '../collect.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { type NodeOptions, startNode, type SvcNode, thisRelease } from '../faults/node-process.ts';
import { scaled } from '../speed.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { human, Steps } from './steps.ts';

const languages = ['javascript', ...(whyNoPythonClients() === undefined ? ['python'] : [])];
/** When the kill happens: the input is accepted; the step before it ends, or just has; the input is taken; the step after it has begun. */
const moments = ['accepted', 'ending', 'taken', 'begun'] as const;
const kills = ['executor', 'worker'] as const;
const cases = moments.flatMap((moment) => kills.map((kill) => ({ moment, kill })));
const rounds = Math.ceil(
  Number(process.env['SVC_KILL_ROUNDS'] ?? cases.length * languages.length) / languages.length,
);

const callOf =
  ({ url }: SvcNode) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.parse((await response.text()) || 'null') as unknown };
  };

it.each(languages)(
  `loses and doubles no input of a %s graph, ${rounds} times`,
  async (language) => {
    const project = fileURLToPath(new URL(`${language}/svc.json`, import.meta.url));
    await using database = await testDatabase();
    const options = { databaseUri: database.uri, release: { ...thisRelease, project } };
    await using api = await startNode({ ...options, name: `${language}-api`, role: 'api' });
    const worker: NodeOptions = { ...options, name: `${language}-worker`, role: 'worker' };
    let node = await startNode(worker);
    const server = { url: api.url, call: callOf(api) };
    try {
      for (let round = 0; round < rounds; round++) {
        const { moment, kill } = cases[round % cases.length] as (typeof cases)[number];
        const fail = async (): Promise<void> => {
          if (kill === 'executor') return node.killExecutor();
          await node.kill();
          node = await startNode(worker);
        };
        const steps = new Steps(server);
        const { run_id } = await steps.start(['step', 'step', 'step', 'step'], {
          stream_mode: 'updates',
          stream_resumable: true,
        });
        await steps.untilBegun('0');
        const inputs = [await steps.sent(run_id, { ...human('a'), note: 'a' })];
        inputs.push(await steps.sent(run_id, human('b')), await steps.sent(run_id, human('c')));
        if (moment === 'accepted') await fail();
        await steps.open('0');
        if (moment === 'ending') {
          await sleep(Math.random() * 60); // any instant will do
          await fail();
        }
        if (moment === 'taken') {
          await steps.ended(inputs[0]?.run_id ?? '');
          await fail();
        }
        if (moment === 'begun') {
          await steps.untilBegun('1');
          await fail();
        }
        await steps.open('1', '2', '3');
        const how = `round ${round}: ${kill} killed when ${moment}`;
        expect(await steps.ended(run_id), how).toMatchObject({ status: 'success' });
        expect(await steps.texts(), how).toEqual(['hi', 'a', 'b', 'c']);
        const { seen, note } = await steps.values();
        expect({ steps: seen.length, note }, how).toEqual({ steps: 4, note: 'a' });
        for (const input of inputs)
          expect((await steps.run(input.run_id)).cancel_reason, how).toContain(run_id);
        const log = await collect(
          steps.client.runs.joinStream(steps.thread_id, run_id, { lastEventId: '-1' }),
        );
        const logged = log.flatMap(({ data }) => {
          const { __metadata__: of } = data as { __metadata__?: { run_id?: string } };
          return of?.run_id === undefined ? [] : [of.run_id];
        });
        expect(logged, how).toEqual(inputs.map((input) => input.run_id));
        await eventually(() => expect(node.isRunning()).toBe(true));
      }
    } finally {
      await node.kill();
    }
  },
  scaled(60_000 + 30_000 * rounds),
);
