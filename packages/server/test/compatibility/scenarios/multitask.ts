import { newThread, type Run, type Scenario } from '../scenario.ts';

const strategies = [undefined, 'reject', 'enqueue', 'interrupt', 'rollback'] as const;

/** A second run while the first one waits. */
export const multitask: Scenario = {
  name: 'multitask',
  async run(wire) {
    for (const multitask_strategy of strategies) {
      const thread = await newThread(wire);
      const name = multitask_strategy ?? 'default';
      let [first, second] = ['', ''];
      await wire.follow(
        `${name}: first`,
        'POST',
        `${thread}/runs/stream`,
        { body: { assistant_id: 'acts', input: { do: 'wait' }, stream_mode: ['custom'] } },
        async ({ event, data }) => {
          if (event === 'metadata') first = `${thread}/runs/${(data as unknown as Run).run_id}`;
          if (event !== 'custom') return;
          const { run_id } = await wire.call<Run>(`${name}: second`, 'POST', `${thread}/runs`, {
            body: {
              assistant_id: 'acts',
              input: { do: 'context' },
              ...(multitask_strategy ? { multitask_strategy } : {}),
            },
          });
          if (run_id) second = `${thread}/runs/${run_id}`;
          if (!['interrupt', 'rollback'].includes(name)) await wire.send('POST', `${first}/cancel?wait=1`);
        },
      );
      await wire.call(`${name}: first run`, 'GET', first);
      if (second) await wire.call(`${name}: result of second`, 'GET', `${second}/join`);
      if (second) await wire.call(`${name}: second run`, 'GET', second);
      await wire.call(`${name}: thread`, 'GET', thread);
    }
  },
};
