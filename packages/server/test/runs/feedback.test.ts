// Links for feedback on a run, which stock clients ask for with `feedbackKeys`.
import { Client } from '@langchain/langgraph-sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../collect.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const key = 'a-key-for-feedback-0123456789-0123';
const chat = { input: { messages: [{ role: 'user', content: 'hi' }] } };
const feedbackKeys = ['helpful', 'kind', 'helpful'];

type Links = Record<string, string>;

const stream = async (server: TestServer, thread: string | null) => {
  const client = new Client({ apiUrl: server.url });
  const payload = { ...chat, feedbackKeys, streamMode: 'values' as const };
  return collect(
    thread === null ? client.runs.stream(null, 'chat', payload) : client.runs.stream(thread, 'chat', payload),
  );
};

describe('with tracing on', () => {
  const server = fixture(() => startTestServer({ settings: { bootstrapApiKey: key, tracing: 'on' } }));
  let client: Client;
  beforeAll(async () => {
    client = new Client({ apiUrl: server.url });
  });

  const feedbackOn = async (run: string) =>
    (await server.call('GET', `/api/v1/feedback?run=${run}`, undefined, { 'x-api-key': key })).body;

  it.each(['thread', 'stateless'])('a stream of a %s run ends with a link for each key', async (kind) => {
    const thread = kind === 'thread' ? (await client.threads.create()).thread_id : null;
    const events = await stream(server, thread);
    const last = events.at(-1) as unknown as { event: string; data: Links };
    expect(last.event).toBe('feedback');
    expect(Object.keys(last.data)).toEqual(['helpful', 'kind']);
    expect(events.filter(({ event }) => event === 'feedback')).toHaveLength(1);

    const { run_id } = (events[0] as { data: { run_id: string } }).data;
    for (const score of [0, 1]) {
      const given = await fetch(last.data['helpful']!, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ score }),
      });
      expect(given.status).toBe(204);
    }
    expect(await feedbackOn(run_id)).toMatchObject([{ key: 'helpful', score: 1, run_id }]);
  });

  it('a wait has the links beside the values, also beside those of an error', async () => {
    const { thread_id } = await client.threads.create();
    const body = { assistant_id: 'chat', ...chat, feedback_keys: feedbackKeys };
    const { body: values } = await server.call('POST', `/threads/${thread_id}/runs/wait`, body);
    expect(values).toMatchObject({ messages: [{}, {}], __feedback__: { helpful: expect.any(String) } });
    const failing = { assistant_id: 'probe', input: { do: 'throw' }, feedback_keys: ['kind'] };
    expect((await server.call('POST', '/runs/wait', failing)).body).toMatchObject({
      __error__: { error: 'TypeError' },
      __feedback__: { kind: expect.stringMatching(/^http:/) },
    });
    const { values: state } = await client.threads.getState(thread_id);
    expect(state).not.toHaveProperty('__feedback__');
  });

  it('a run that is read later has no links', async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'chat', { ...chat, feedbackKeys });
    expect(await client.runs.join(thread_id, run.run_id)).not.toHaveProperty('__feedback__');
  });

  it.each([[['']], [['k'.repeat(257)]], ['kind'], [Array.from({ length: 101 }, String)]])(
    'refuses the keys of case %#',
    async (feedback_keys) => {
      const { status } = await server.call('POST', '/runs/stream', { assistant_id: 'chat', feedback_keys });
      expect(status).toBe(422);
    },
  );
});
