// Stock tracers: traceable functions, LangChain callbacks of a graph, attachments, and every transport.
import { randomUUID } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { HumanMessage } from '@langchain/core/messages';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { Client, RunTree, type Run } from 'langsmith';
import { traceable } from 'langsmith/traceable';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent } from '../../../../examples/agent/agent.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

const newClient = (): Client =>
  new Client({ apiUrl: platform.apiUrl, apiKey: platform.key, autoBatchTracing: true });

const readTrace = async (trace: string): Promise<Run[]> => {
  const { body } = await platform.call('POST', '/runs/query', { json: { trace, limit: 100 } });
  return (body as { runs: Run[] }).runs.toReversed();
};

describe('LangChain callbacks', () => {
  it('trace every step of an agent as the tracer saw it', async () => {
    const client = newClient();
    const tracer = new LangChainTracer({ client, projectName: 'agents' });
    const sent = new Map<string, Record<string, unknown>>();
    const note = (run: object & { id?: string }): void => {
      const known = Object.entries(run).filter(([, value]) => value !== undefined);
      // The tracer continues to change these objects.
      const copy = JSON.parse(JSON.stringify(Object.fromEntries(known))) as Record<string, unknown>;
      sent.set(run.id ?? '', { ...sent.get(run.id ?? ''), ...copy });
    };
    const create = client.createRun.bind(client);
    const update = client.updateRun.bind(client);
    client.createRun = (run, options) => (note(run), create(run, options));
    client.updateRun = (id, run, options) => (note({ ...run, id }), update(id, run, options));
    const run_id = randomUUID();
    await agent.invoke(
      { messages: [new HumanMessage('what is 6 times 7?')] },
      { callbacks: [tracer], runId: run_id, metadata: { thread_id: 'conversation-7' } },
    );
    await client.awaitPendingTraceBatches();
    const runs = await readTrace(run_id);
    expect(sent.size).toBeGreaterThan(4);
    expect(runs.map((run) => run.id).toSorted()).toEqual([...sent.keys()].toSorted());
    for (const run of runs) {
      const { name, run_type, inputs, outputs, parent_run_id = null, dotted_order } = sent.get(run.id) ?? {};
      expect(run).toMatchObject({ name, run_type, inputs, outputs, parent_run_id, dotted_order });
      expect(run).toMatchObject({ status: 'success', trace_id: run_id, thread_id: 'conversation-7' });
    }
    expect(runs[0]?.id).toBe(run_id);
    expect(runs.map((run) => run.run_type)).toContain('llm');
  });
});

describe('traceable functions', () => {
  it('are stored with their errors and their callers', async () => {
    const client = newClient();
    let trace = '';
    const inner = traceable(() => Promise.reject(new Error('inner broke')), {
      name: 'inner',
      client,
      tracingEnabled: true,
    });
    const outer = traceable(
      async (question: string) => {
        await inner().catch(() => undefined);
        return { answer: question.length };
      },
      {
        name: 'outer',
        client,
        tracingEnabled: true,
        tags: ['t'],
        on_end: (run: RunTree) => (trace = run.trace_id),
      },
    );
    await outer('why?');
    await client.awaitPendingTraceBatches();
    const [first, second] = await readTrace(trace);
    expect(first).toMatchObject({ name: 'outer', status: 'success', outputs: { answer: 4 }, tags: ['t'] });
    expect(second).toMatchObject({ name: 'inner', status: 'error', parent_run_id: first?.id });
    expect(second?.error).toContain('inner broke');
  });
});

describe('attachments', () => {
  it('read back byte for byte', async () => {
    const client = newClient();
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    const run = new RunTree({
      name: 'with a file',
      inputs: {},
      client,
      attachments: { picture: ['image/png', bytes], empty: ['text/plain', new Uint8Array()] },
    });
    await run.end({});
    await run.postRun();
    await client.awaitPendingTraceBatches();
    const { body } = await platform.call('GET', `/runs/${run.id}/attachments/picture`);
    expect(body).toMatchObject({ name: 'picture', content_type: 'image/png' });
    expect(Buffer.from((body as { content: string }).content, 'base64').equals(bytes)).toBe(true);
    expect((await platform.call('GET', `/runs/${run.id}/attachments/empty`)).body).toMatchObject({
      content: '',
    });
    expect((await platform.call('GET', `/runs/${run.id}/attachments/none`)).status).toBe(404);
  });
});

describe('a compressed body', () => {
  const body = (id: string): Buffer =>
    Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="post.${id}"\r\n\r\n{"id":"${id}","name":"packed","start_time":"2026-11-20T00:00:00Z"}\r\n--b--\r\n`,
    );

  it.each(['gzip', 'deflate', 'zlib', 'zstd'])('in %s is accepted', async (coding) => {
    const id = randomUUID();
    const packed = { gzip: gzipSync, zstd: rawZstd }[coding] ?? deflateSync;
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': coding };
    expect(await platform.call('POST', '/runs/multipart', { body: packed(body(id)), headers })).toMatchObject(
      {
        status: 202,
      },
    );
    expect((await platform.call('GET', `/runs/${id}`)).body).toMatchObject({ name: 'packed' });
  });
});

/** One zstd frame with one uncompressed block. */
const rawZstd = (content: Buffer): Buffer => {
  const head = Buffer.alloc(3);
  head.writeUIntLE(content.length * 8 + 1, 0, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3]), head, content]);
};
