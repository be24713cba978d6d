import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { human, Steps } from './steps.ts';

const project = fileURLToPath(new URL('javascript/svc.json', import.meta.url));

it(
  '10,000 inputs: a hundred wait, the others are refused with 429, and each that waits is taken once',
  async () => {
    await using server = await startTestServer({ project, executors: 'ready' });
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step']);
    await steps.untilBegun('0');
    const statuses: number[] = [];
    const accepted: string[] = [];
    for (let batch = 0; batch < 200; batch++) {
      const texts = Array.from({ length: 50 }, (_, at) => `${batch}.${at}`);
      const answers = await Promise.all(texts.map((text) => steps.send(run_id, human(text))));
      for (const [at, { status }] of answers.entries()) {
        statuses.push(status);
        if (status === 200) accepted.push(String(texts[at]));
      }
    }
    expect(accepted).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(9_900);
    expect(await steps.send(run_id, human('x'.repeat(20_000_000)))).toMatchObject({ status: 413 });
    await steps.open('0', '1');
    await steps.ended(run_id);
    const texts = (await steps.texts()).slice(1);
    expect(new Set(texts)).toEqual(new Set(accepted));
    expect(texts).toHaveLength(100);
  },
  scaled(120_000),
);
