// Fills a store with trace runs of about 3.5 KB each. They consist of words of a vocabulary, numbers and ids, so that they compress
// like real ones.
import { createHash, randomInt } from 'node:crypto';
import type { Database } from '../packages/server/src/storage/postgres/database.ts';
import { traceStorage, type TraceWrite } from '../packages/server/src/storage/tracing/traces.ts';

const runsPerTrace = 10;
const daysKept = 400;
const batchRuns = 1_000;
const dayMs = 86_400_000;

const words = Array.from({ length: 5_000 }, (_, index) =>
  createHash('md5')
    .update(String(index))
    .digest('base64')
    .replaceAll(/[^a-z]/g, '')
    .slice(0, 2 + (index % 9))
    .padEnd(2, 'e'),
);

const prose = (chars: number): string => {
  const found: string[] = [];
  for (let size = 0; size < chars;) {
    // The frequency of words is skewed, as in natural language.
    const word = words[Math.floor(Math.random() ** 3 * words.length)] ?? '';
    found.push(Math.random() < 0.08 ? String(randomInt(1e6)) : word);
    size += word.length + 1;
  }
  return found.join(' ');
};

const idOf = (text: string): string => {
  const hex = createHash('md5').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

const runOf = (session_id: string, seed: string, startMs: number, index: number): TraceWrite => {
  const step = index % runsPerTrace;
  const rootIndex = index - step;
  const root = idOf(`${seed}/${rootIndex}`);
  const id = step === 0 ? root : idOf(`${seed}/${index}`);
  const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}${100 + (index % 900)}Z`;
  const segment = (of: string): string => `${time(startMs).replaceAll(/[-:.]/g, '').slice(0, -1)}Z${of}`;
  const prompt = 100 + (index % 900);
  return {
    id,
    rank: 0,
    patched: 0,
    writes: [String(index)],
    start_time: time(startMs),
    metadata: JSON.stringify({
      thread_id: idOf(`${seed}/thread/${Math.floor(rootIndex / 50)}`),
      user_id: `user-${index % 1_000}`,
      customer: `c-${index % 20_000}`,
      ls_provider: 'openai',
      ls_model_name: 'gpt-x',
      langgraph_step: step,
      langgraph_node: 'agent',
      revision_id: 'v1.2-abcdef',
    }),
    fields: {
      session_id,
      trace_id: root,
      ...(step === 0 ? {} : { parent_run_id: root }),
      name: step === 0 ? 'agent' : 'ChatModel',
      run_type: step === 0 ? 'chain' : 'llm',
      dotted_order: step === 0 ? segment(root) : `${segment(root)}.${segment(id)}`,
      end_time: time(startMs + (index % 9_000)),
      ...(index % 97 === 0 ? { error: `TimeoutError: ${prose(200)}` } : {}),
      inputs: JSON.stringify({ messages: [{ role: 'user', content: prose(1_400) }] }),
      outputs: JSON.stringify({ messages: [{ role: 'assistant', content: prose(1_000) }] }),
      extra: JSON.stringify({
        runtime: { library: 'langsmith', runtime: 'node', sdk: 'langsmith-js', sdk_version: '0.10.5' },
        invocation_params: { model: 'gpt-x', temperature: 0.1, tools: prose(250) },
      }),
      events: JSON.stringify([{ name: 'new_token', time: time(startMs + 40) }]),
      tags: JSON.stringify([`seq:step:${step}`, 'production']),
      model: 'gpt-x',
      prompt_tokens: String(prompt),
      completion_tokens: String(index % 300),
      total_tokens: String(prompt + (index % 300)),
      prompt_cost: (prompt * 1e-6).toFixed(9),
      completion_cost: ((index % 300) * 2e-6).toFixed(9),
      total_cost: (prompt * 1e-6 + (index % 300) * 2e-6).toFixed(9),
      first_token_time: time(startMs + 40),
    },
  };
};

export const dayBefore = (count: number): string =>
  new Date(Date.now() - count * dayMs).toISOString().slice(0, 10);

/** Stores the same number on each day; the newest day is yesterday. */
export const fillStore = async (
  db: Database,
  where: { tenant_id: string; session_id: string },
  { runs, days }: { runs: number; days: number },
): Promise<void> => {
  const traces = traceStorage(db);
  const perDay = Math.floor(runs / days);
  for (let ago = days; ago > 0; ago--) {
    const day = dayBefore(ago);
    const startOf = (index: number): number =>
      Date.parse(`${day}T00:00:00Z`) + Math.floor((index * dayMs) / perDay);
    for (let from = 0; from < perDay; from += batchRuns) {
      const count = Math.min(batchRuns, perDay - from);
      const batch = Array.from({ length: count }, (_, index) =>
        runOf(where.session_id, `${where.session_id}/${day}`, startOf(from + index), from + index),
      );
      await traces.ingest(where.tenant_id, batch, [], daysKept);
    }
    // One day at a time: the statement may take half a minute.
    await db.script(`vacuum analyze trace_runs_${day.replaceAll('-', '')}`);
    process.stderr.write(`${day}: ${perDay} runs\n`);
  }
  await db.script('analyze');
};
