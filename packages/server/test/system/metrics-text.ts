// The text of /metrics, read by name.
import type { TestServer } from '../server.ts';
import { eventually } from '../eventually.ts';

export interface Metric {
  type: string;
  help: string;
  /** Names of the labels, without that of buckets. */
  labels: string[];
}

/** The text of `/metrics` after a run and its requests. */
export const metricsTextOf = async (server: TestServer): Promise<string> => {
  const input = { messages: [{ role: 'user', content: 'x' }] };
  await server.call('POST', '/runs/wait', { assistant_id: 'chat', input });
  return await eventually(async () => {
    const { body } = await server.call('GET', '/metrics');
    const text = String(body);
    if (!/^svc_runs_ended_total\{/m.test(text)) throw new Error('the run has not been counted yet');
    return text;
  });
};

/** By the name in a `# TYPE` line. */
export const metricsIn = (text: string): Map<string, Metric> => {
  const help = new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', words = '']) => [name, words]),
  );
  return new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
      const series = text.matchAll(new RegExp(`^${name}(?:_bucket|_count|_sum)?\\{([^}]*)\\}`, 'gm'));
      const labels = [...series].flatMap(([, pairs = '']) => pairs.match(/\w+(?==")/g) ?? []);
      return [
        name,
        { type, help: help.get(name) ?? '', labels: [...new Set(labels)].filter((label) => label !== 'le') },
      ];
    }),
  );
};
