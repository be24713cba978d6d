// Traces for tests, and the API key that their pages ask for.
import { randomUUID } from 'node:crypto';
import { createPlatformClient, type PlatformClient, type SentTraceRun } from '@svc/sdk';
import { until } from '../../server/test/eventually.ts';
import type { Page } from './browser.ts';
import { traceKey } from './serve.ts';

export interface Traces {
  client: PlatformClient;
  /** Resolves when the trace of a run is stored: this happens a moment after the run. */
  eventually: (traceId: string) => Promise<void>;
  /** Sends a trace with this number of tools, of which the last one failed. It starts a minute ago by default. Returns its id. */
  send: (project: string, tools: number, agoMs?: number) => Promise<string>;
  /** Sends a trace with one call of a model for each. Returns the ids of the traces. */
  sendCalls: (project: string, calls: readonly ModelCall[]) => Promise<string[]>;
}

export interface ModelCall {
  startMs: number;
  ms: number;
  promptTokens: number;
  error?: string;
}

export const tracesOf = (url: string): Traces => {
  const client = createPlatformClient({ apiUrl: url, apiKey: traceKey });
  return {
    client,
    eventually: (traceId) =>
      until(async () => {
        const { runs } = await client.traces.query({ trace: traceId, is_root: true });
        return runs[0] !== undefined && runs[0].status !== 'pending';
      }),
    send: async (project, tools, agoMs = 60_000) => {
      const runs = toolTrace(project, tools, Date.now() - agoMs);
      for (let at = 0; at < runs.length; at += 2_500)
        await client.traces.send({ post: runs.slice(at, at + 2_500) });
      return runs[0]?.id ?? '';
    },
    sendCalls: async (project, calls) => {
      const traces = calls.map((call) => modelTrace(project, call));
      await client.traces.send({ post: traces.flat() });
      return traces.map(([root]) => root?.id ?? '');
    },
  };
};

/** A root and a model below it, with ten tokens of completion. Its first token comes after a quarter of the time. */
const modelTrace = (project: string, { startMs, ms, promptTokens, error }: ModelCall): SentTraceRun[] => {
  const at = (afterMs: number): string => new Date(startMs + afterMs).toISOString();
  const rootId = randomUUID();
  const failed = error === undefined ? {} : { error };
  const common = { session_name: project, trace_id: rootId, start_time: at(0), end_time: at(ms), ...failed };
  const usage_metadata = {
    input_tokens: promptTokens,
    output_tokens: 10,
    total_tokens: promptTokens + 10,
    input_cost: promptTokens / 1_000_000,
    output_cost: 0.0005,
    total_cost: promptTokens / 1_000_000 + 0.0005,
  };
  return [
    { ...common, id: rootId, name: `question to ${project}`, run_type: 'chain' },
    {
      ...common,
      id: randomUUID(),
      parent_run_id: rootId,
      name: 'model',
      run_type: 'llm',
      events: [{ name: 'new_token', time: at(ms / 4) }],
      outputs: { usage_metadata },
    },
  ];
};

const toolTrace = (project: string, tools: number, startMs: number): SentTraceRun[] => {
  const at = (ms: number): string => new Date(startMs + ms).toISOString();
  const ordered = (ms: number, id: string): string =>
    `${at(ms).replaceAll(/[-:]/g, '').replace('.', '').replace('Z', '000Z')}${id}`;
  const rootId = randomUUID();
  const rootOrder = ordered(0, rootId);
  const common = { session_name: project, trace_id: rootId };
  const runs: SentTraceRun[] = [
    {
      ...common,
      id: rootId,
      dotted_order: rootOrder,
      name: `agent of ${project}`,
      run_type: 'chain',
      start_time: at(0),
      end_time: at(tools + 100),
      inputs: { question: 'Which tools fail?' },
      outputs: { answer: 'The last one' },
    },
  ];
  for (let index = 0; index < tools; index++) {
    const id = randomUUID();
    const isLast = index === tools - 1;
    runs.push({
      ...common,
      id,
      parent_run_id: rootId,
      dotted_order: `${rootOrder}.${ordered(index, id)}`,
      name: `tool ${index + 1}`,
      run_type: 'tool',
      start_time: at(index),
      end_time: at(index + 40),
      inputs: { number: index + 1 },
      ...(isLast ? { error: 'TimeoutError: the tool has not answered' } : { outputs: { answer: index } }),
    });
  }
  return runs;
};

/** Enters the API key that a page asks for. Resolves when the server has stored it for the session, or has refused it. */
export const enterKey = async (page: Page, key = traceKey): Promise<void> => {
  const answered = page.waitForResponse(
    (response) => response.request().method() === 'POST' && response.url().endsWith('/console/auth/session'),
  );
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Use this key' }).click();
  await answered;
};
