// kill -9 of every process while a task streams: the task goes on after the restart, and the message that began it is still known.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { collect } from '../collect.ts';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { textMessage, type WireTask } from './agent.ts';
import { scaled } from '../speed.ts';
import { testFolder } from '../folders.ts';

const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));

let folder: string;
let svc: SvcProcess;
beforeEach(async () => {
  folder = testFolder();
  svc = await startSvc(join(folder, 'data'), project);
});
afterEach(async () => {
  await svc.killAll();
});

const post = (method: string, params: object): Promise<Response> =>
  fetch(`${svc.url}/a2a/gated`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

const call = async (method: string, params: object): Promise<WireTask> => {
  const { result, error } = (await (await post(method, params)).json()) as {
    result: WireTask;
    error?: unknown;
  };
  expect(error).toBeUndefined();
  return result;
};

interface StreamedResult {
  kind: string;
  id?: string;
  contextId: string;
  append?: boolean;
  artifact?: { parts: { text: string }[] };
  status?: { state: string };
  final?: boolean;
}

/** The results of a stream, and the text of the artifact as a client shows it. */
async function* resultsOf(response: Response): AsyncGenerator<StreamedResult & { shown: string }> {
  let [text, shown] = ['', ''];
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data === undefined) continue;
      const { result } = JSON.parse(data) as { result: StreamedResult };
      const chunk = result.artifact?.parts.map((one) => one.text).join('');
      if (chunk !== undefined) shown = result.append ? shown + chunk : chunk;
      yield { ...result, shown };
    }
  }
}

const textsOf = ({ artifacts }: WireTask) => artifacts.map(({ parts }) => parts.map(({ text }) => text));

it(
  'a task that streams when every process is killed completes with the whole answer',
  async () => {
    const gate = join(folder, 'gate');
    const message = textMessage(gate);
    const whole = `echo ${gate}`;
    let task: { id: string; contextId: string } | undefined;
    for await (const { kind, id, contextId, shown } of resultsOf(await post('message/stream', { message }))) {
      if (kind === 'task') task = { id: id!, contextId };
      if (shown.length === whole.length - 4) break;
    }
    const { id, contextId } = task!;

    await svc.killAll();
    svc = await startSvc(join(folder, 'data'), project, { port: new URL(svc.url).port });
    const followed = await post('tasks/resubscribe', { id });
    const repeated = await post('message/stream', { message });
    await writeFile(gate, '');

    for (const response of [followed, repeated]) {
      const results = await collect(resultsOf(response));
      expect(results[0]).toMatchObject({ kind: 'task', id, contextId });
      expect(results.at(-1)).toMatchObject({ final: true, status: { state: 'completed' }, shown: whole });
    }
    for (const ended of [await call('tasks/get', { id }), await call('message/send', { message })]) {
      expect(ended).toMatchObject({ id, contextId, status: { state: 'completed' } });
      expect(textsOf(ended)).toEqual([[whole]]);
    }
    const runs = await new Client({ apiUrl: svc.url }).runs.list(contextId);
    expect(runs).toMatchObject([{ run_id: id, status: 'success', attempt: 2 }]);
  },
  scaled(180_000),
);
