import { newThread, type Run, type Scenario } from '../scenario.ts';

export const joins: Scenario = {
  name: 'joins',
  async run(wire) {
    const thread = await newThread(wire);
    let run = '';
    await wire.follow(
      'resumable stream',
      'POST',
      `${thread}/runs/stream`,
      {
        body: {
          assistant_id: 'log',
          input: { log: ['in'] },
          stream_mode: ['updates'],
          stream_resumable: true,
        },
      },
      ({ event, data }) => {
        if (event === 'metadata') run = `${thread}/runs/${(data as unknown as Run).run_id}`;
      },
    );
    await wire.call('from the first event', 'GET', `${run}/stream`, { headers: { 'last-event-id': '-1' } });
    await wire.call('after the first event', 'GET', `${run}/stream`, { headers: { 'last-event-id': '0' } });
    await wire.call('after the last event', 'GET', `${run}/stream`, { headers: { 'last-event-id': '2' } });
    await wire.call('of a finished run', 'GET', `${run}/stream`);
    const other = await newThread(wire);
    await wire.call('by another thread', 'GET', `${other}/runs/${run.split('/').at(-1)}/stream`);
    await wire.call('of an unknown run', 'GET', `${thread}/runs/eeeeeeee-0000-4000-8000-000000000001/stream`);
    await wire.call('wait by another thread', 'GET', `${other}/runs/${run.split('/').at(-1)}/join`);
  },
};
