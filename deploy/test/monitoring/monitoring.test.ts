// Alert rules and dashboards: their expressions parse, and read metrics and labels that a running server has.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestServer } from '../../../packages/server/test/server.ts';
import { metricsIn, metricsTextOf, type Metric } from '../../../packages/server/test/system/metrics-text.ts';
import { output } from '../programs.ts';
import { itWithPrograms } from '../with-programs.ts';
import { readsOf } from './promql.ts';
import { scaled } from '../../../packages/server/test/speed.ts';

const deploy = join(import.meta.dirname, '../..');
const fileOf = (name: string): string => join(deploy, name);

interface Dashboard {
  panels: { id: number; title: string; type: string; targets?: { expr: string; legendFormat: string }[] }[];
}

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
}

let metrics: Map<string, Metric>;
let documentedLabels: Set<string>;
beforeAll(async () => {
  await using server = await startTestServer();
  metrics = metricsIn(await metricsTextOf(server));
  const page = await readFile(join(deploy, '../docs/monitoring.md'), 'utf8');
  const rows = page.matchAll(/^\| `svc_\w+` \| \w+ \| (.*?) \| .* \|$/gm);
  // Labels that Prometheus adds, and those of the page, whose test compares them with a server.
  documentedLabels = new Set([
    'job',
    'instance',
    'le',
    ...[...rows].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []),
  ]);
}, scaled(120_000));

/** The expression with the variables of Grafana replaced. */
const withoutVariables = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'svc');

const isKnown = (name: string): boolean => {
  const histogram = metrics.get(name.replace(/_(?:bucket|count|sum)$/, ''));
  // Prometheus itself reports whether a target is up.
  return name === 'up' || metrics.has(name) || histogram?.type === 'histogram';
};

const check = (expressions: string[]): void => {
  expect(expressions.length).toBeGreaterThan(5);
  for (const expression of expressions.map(withoutVariables)) {
    const { metrics: names, labels } = readsOf(expression);
    expect(names.size, expression).toBeGreaterThan(0);
    expect(
      [...names].filter((name) => !isKnown(name)),
      expression,
    ).toEqual([]);
    expect(
      [...labels].filter((label) => !documentedLabels.has(label)),
      expression,
    ).toEqual([]);
  }
};

describe('the dashboard', () => {
  it('has expressions that parse, with metrics and labels that exist', async () => {
    const { panels } = JSON.parse(await readFile(fileOf('grafana/svc.json'), 'utf8')) as Dashboard;
    check(panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)));
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, targets = [] } of panels)
      for (const { legendFormat } of targets)
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(documentedLabels, title).toContain(label);
  });
});

describe('the alert rules', () => {
  it('have expressions that parse, with metrics and labels that exist, and say what to do', async () => {
    const { groups } = parse(await readFile(fileOf('prometheus/rules.yml'), 'utf8')) as Rules;
    const rules = groups.flatMap((group) => group.rules);
    check(rules.map(({ expr }) => expr));
    for (const { alert, annotations } of rules) {
      expect(annotations['summary'], alert).toBeTruthy();
      expect(annotations['remedy'], alert).toBeTruthy();
    }
  });

  itWithPrograms(['promtool'], 'are valid, and fire when they should', () => {
    expect(output('promtool', ['check', 'rules', fileOf('prometheus/rules.yml')])).toContain('SUCCESS');
    expect(output('promtool', ['test', 'rules', fileOf('prometheus/rules.test.yml')])).toContain('SUCCESS');
  });
});

it('an expression with a syntax error or an unknown metric is found', () => {
  expect(() => readsOf('sum(rate(svc_runs_ended_total[5m])')).toThrow('syntax error');
  expect(
    [...readsOf('max(svc_no_such_metric{reason="x"})').metrics].filter((name) => !isKnown(name)),
  ).toEqual(['svc_no_such_metric']);
});
