// The metrics that a running server reports.
import { startTestServer } from '../../../packages/server/test/server.ts';

export interface Metric {
  type: string;
  help: string;
  /** Names of the labels, without those of buckets. */
  labels: string[];
}

/** The text of `/metrics`. */
export const liveText = async (): Promise<string> => {
  await using server = await startTestServer();
  const { status, body } = await server.call('GET', '/metrics');
  if (status !== 200) throw new Error(`/metrics responds with ${status}`);
  return String(body);
};

/** By the name in a `# TYPE` line. */
export const metricsIn = (text: string): Map<string, Metric> => {
  const help = new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', words = '']) => [name, words]),
  );
  return new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
      const series = text.matchAll(new RegExp(`^${name}(?:_bucket|_count|_sum)?\\{([^}]*)\\}`, 'gm'));
      const labels = new Set(
        [...series].flatMap(([, pairs = '']) =>
          [...pairs.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
        ),
      );
      labels.delete('le');
      return [name, { type, help: help.get(name) ?? '', labels: [...labels] }];
    }),
  );
};

/** The server's own metrics. */
export const svcMetrics = async (): Promise<Map<string, Metric>> =>
  new Map([...metricsIn(await liveText())].filter(([name]) => name.startsWith('svc_')));
