import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { metricsIn, metricsTextOf } from './metrics-text.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer());

it('metrics have the version of the server and the durations of runs', async () => {
  const client = createClient({ apiUrl: server.url });
  await client.runs.wait(null, 'chat', { input: { messages: [{ role: 'user', content: 'x' }] } });
  await eventually(async () => {
    const { body } = await server.call('GET', '/metrics');
    expect(body).toMatch(/^svc_build_info\{version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+"\} 1$/m);
    expect(body).toMatch(/^svc_run_seconds_count\{status="success"\} 1$/m);
  });
});

/** The naming rules of `promtool check metrics`, for where it is not installed. */
const namingMistakes = (text: string): string[] => {
  const typeOf = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]),
  );
  const helped = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name));
  return [...typeOf].flatMap(([name, type]) => [
    ...(helped.has(name) ? [] : [`${name} has no help text`]),
    ...(type === 'counter' && !name.endsWith('_total') ? [`${name} is a counter without _total`] : []),
    ...(type !== 'counter' && /_(total|count|sum|bucket)$/.test(name) ? [`${name} is a ${type}`] : []),
    ...(/[A-Z]|_(milliseconds|ms|kilobytes|megabytes|minutes)(_|$)/.test(name) ? [`unit of ${name}`] : []),
  ]);
};

it('metrics follow the naming rules of Prometheus', async () => {
  const { body } = await server.call('GET', '/metrics');
  const text = String(body);
  expect(text).toContain('# TYPE svc_queue_pending_runs gauge');
  expect(namingMistakes(text)).toEqual([]);
  const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  // The rules above apply where promtool is not installed (Debian: package prometheus).
  if (error === undefined) expect(stdout + stderr).toBe('');
  else expect(error).toMatchObject({ code: 'ENOENT' });
});

/** The rows of the table in docs/monitoring.md. */
const documented = (): Map<string, { type: string; labels: string[]; help: string }> => {
  const page = readFileSync(new URL('../../../../docs/monitoring.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `(svc_\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '', help = '']) => [
      name,
      { type, labels: labels.match(/\w+/g) ?? [], help },
    ]),
  );
};

it('docs/monitoring.md has every metric of the server with its type, labels and meaning', async () => {
  const live = [...metricsIn(await metricsTextOf(server))].filter(([name]) => name.startsWith('svc_'));
  const page = documented();
  const row = (name: string, type: string, help: string) => `| \`${name}\` | ${type} | … | ${help} |`;
  expect([...page].map(([name, { type, help }]) => row(name, type, help)).toSorted()).toEqual(
    live.map(([name, { type, help }]) => row(name, type, help)).toSorted(),
  );
  // Series of some labels exist only after an event that does not happen here.
  for (const [name, { labels }] of live)
    expect(page.get(name)?.labels, name).toEqual(expect.arrayContaining(labels));
});

it('the dashboard shows every metric', () => {
  const dashboard = readFileSync(new URL('../../../../deploy/grafana/svc.json', import.meta.url), 'utf8');
  expect([...documented().keys()].filter((name) => !dashboard.includes(name)).toSorted()).toEqual([
    // What the rates of rows and attempts show in other units, or for one process.
    'svc_export_attempt_seconds_total',
    'svc_export_bytes_total',
    'svc_export_files_total',
    'svc_export_leases_lost_total',
    'svc_export_raw_bytes_total',
    'svc_export_running_here',
    'svc_exporter_exits_total',
  ]);
});
