// What the measured pages of the console show, made through the API.
import { randomUUID } from 'node:crypto';
import {
  createClient,
  createPlatformClient,
  type Client,
  type PlatformClient,
  type SentTraceRun,
} from '@svc/sdk';

const says = (content: string) => ({ messages: [{ role: 'user', content }] });

export interface Clients {
  deployment: Client;
  platform: PlatformClient;
}

export const clientsOf = (apiUrl: string, apiKey: string): Clients => ({
  deployment: createClient({ apiUrl }),
  platform: createPlatformClient({ apiUrl, apiKey }),
});

/** Ids of what the pages of single things show. */
export interface Things {
  threadId: string;
  runId: string;
  assistantId: string;
}

const listed = 25;
const dayMs = 86_400_000;

/** At least one row for each page, and a full screen for most. */
export const createThings = async ({ deployment, platform }: Clients): Promise<Things> => {
  let newest = { threadId: '', runId: '' };
  const created = await deployment.assistants.create({ graph_id: 'agent', name: 'Terse' });
  for (let n = 0; n < listed; n++) {
    await deployment.assistants.create({ graph_id: 'agent', name: `Assistant ${n}` });
    await deployment.store.put(['users', `user-${n}`], 'food', { likes: ['apples', 'tea'], since: 1843 });
    const { thread_id: threadId } = await deployment.threads.create({ graphId: 'agent' });
    let runId = '';
    await deployment.runs.wait(
      threadId,
      'agent',
      { input: says(`Question ${n}`) },
      { onRunCreated: (made) => (runId = made.runId) },
    );
    newest = { threadId, runId };
  }
  const asking = await deployment.threads.create({ graphId: 'asking' });
  await deployment.runs.wait(asking.thread_id, 'asking', { input: says('Weather?') });
  await deployment.crons.create(null, 'agent', { schedule: '0 9 * * 1-5', input: says('Good morning') });
  // Nothing listens there: the delivery fails and waits.
  const webhook = 'http://127.0.0.1:9/ended';
  const reported = await deployment.threads.create({ graphId: 'agent' });
  await deployment.runs.wait(reported.thread_id, 'agent', { input: says('Report this'), webhook });
  await sendTrace(platform, 'exported', 3);
  const destination = await platform.destinations.create({
    destination_type: 'file',
    display_name: 'disk',
    config: { path: 'disk' },
  });
  const [project] = await platform.projects.list({ name: 'exported' });
  await platform.exports.create({
    bulk_export_destination_id: destination.id,
    session_id: project?.id ?? '',
    start_time: new Date(Date.now() - dayMs).toISOString(),
    end_time: new Date(Date.now() + dayMs).toISOString(),
  });
  return { ...newest, assistantId: created.assistant_id };
};

const runsPerRequest = 2_500;

/** Sends a trace of this many spans in three levels, and resolves with its id. */
export const sendTrace = async (
  { traces }: PlatformClient,
  project: string,
  spans: number,
): Promise<string> => {
  const runs = newTrace(project, spans);
  for (let at = 0; at < runs.length; at += runsPerRequest)
    await traces.send({ post: runs.slice(at, at + runsPerRequest) });
  return runs[0]?.id ?? '';
};

const newTrace = (session_name: string, spans: number): SentTraceRun[] => {
  const startMs = Date.now() - 60_000;
  const at = (ms: number): string => new Date(startMs + ms).toISOString();
  const runs: SentTraceRun[] = [];
  const ids = Array.from({ length: spans }, () => randomUUID());
  const orders: string[] = [];
  for (const [index, id] of ids.entries()) {
    const parent = index === 0 ? undefined : parentOf(index);
    const own = `${at(index).replaceAll(/[-:.]/g, '').replace('Z', '000Z')}${id}`;
    orders[index] = parent === undefined ? own : `${orders[parent] ?? ''}.${own}`;
    runs.push({
      session_name,
      id,
      trace_id: ids[0] ?? id,
      ...(parent === undefined ? {} : { parent_run_id: ids[parent] ?? '' }),
      dotted_order: orders[index],
      name: index === 0 ? `agent of ${session_name}` : `span ${index}`,
      run_type: index === 0 ? 'chain' : 'tool',
      start_time: at(index),
      end_time: at(parent === undefined ? spans + 100 : index + 20),
      inputs: { number: index, question: 'Which of the spans is the slowest?' },
      outputs: { answer: index },
    });
  }
  return runs;
};

/** Every tenth span is a child of the root, and has the nine spans after it as children. */
const parentOf = (index: number): number => (index % 10 === 0 ? 0 : index - (index % 10));

/** A conversation of this many messages, with some Markdown. */
export const createConversation = async ({ threads }: Client, count: number): Promise<string> => {
  const { thread_id: threadId } = await threads.create({ graphId: 'agent' });
  const part = 500;
  for (let from = 0; from < count; from += part) {
    const messages = Array.from({ length: Math.min(part, count - from) }, (_, n) => ({
      type: (from + n) % 2 === 0 ? 'human' : 'ai',
      id: `message-${from + n}`,
      content: `Message **${from + n}** of a long conversation.\n\n- It has a list\n- with two items\n\n${'And some words. '.repeat(12)}`,
    }));
    await threads.updateState(threadId, { values: { messages }, asNode: 'model' });
  }
  return threadId;
};

export interface LargeState {
  threadId: string;
  /** Bytes of its JSON. */
  bytes: number;
}

/** The state of the graph `bulk`: a list of `objects` objects, and a text of `characters` characters. */
export const createLargeState = async (
  { threads, runs }: Client,
  input: { objects: number; characters: number },
): Promise<LargeState> => {
  const { thread_id: threadId } = await threads.create({ graphId: 'bulk' });
  await runs.create(threadId, 'bulk', { input }).then(({ run_id }) => runs.join(threadId, run_id));
  const { values } = await threads.getState(threadId);
  const bytes = Buffer.byteLength(JSON.stringify(values));
  const { records = [] } = values as { records?: unknown[] };
  if (records.length !== input.objects)
    throw new Error('The run of the graph bulk has not written its state');
  return { threadId, bytes };
};
