// Streams that are open when the server has stopped: their last event says how to continue.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './server.ts';

let server: TestServer;
beforeAll(async () => {
  // Without executors a run stays pending, so its stream does not end.
  server = await startTestServer({ executors: 'none' });
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** The text of a stream until its connection breaks. */
const textOf = async ({ body }: Response): Promise<string> => {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
      text += decoder.decode(chunk, { stream: true });
  } catch {
    return text;
  }
  throw new Error('The stream ended as after the end of the run');
};

it('names Last-Event-ID or since, for streams of runs, joins, streams of threads and feeds of protocol v2', async () => {
  const { body: thread } = await server.call('POST', '/threads', {});
  const path = `/threads/${(thread as { thread_id: string }).thread_id}`;
  const input = { assistant_id: 'chat', input: {}, stream_resumable: true, multitask_strategy: 'enqueue' };
  const { body: run } = await server.call('POST', `${path}/runs`, input);
  const responses = await Promise.all([
    fetch(`${server.url}${path}/runs/stream`, post(input)),
    fetch(`${server.url}${path}/runs/${(run as { run_id: string }).run_id}/stream`),
    fetch(`${server.url}${path}/stream`),
    fetch(`${server.url}${path}/stream/events`, post({ channels: ['values'] })),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const texts = responses.map(textOf);
  await server.drain(AbortSignal.abort());
  await server[Symbol.asyncDispose]();
  const ends = await Promise.all(texts);
  const byId =
    'event: reconnect\ndata: {"message":"The server stops before the stream has ended. Open the stream again';
  const byNumber =
    'event: reconnect\ndata: {"message":"The server stops before the stream has ended. Send the request again with since';
  expect(ends).toEqual([byId, byId, byId, byNumber].map((text) => expect.stringContaining(text) as string));
});
