// The Helm chart: what it renders for several values is valid, and has what a deployment needs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingDefinitions } from '../../../packages/server/src/config/settings/definitions.ts';
import { readsOf } from '../monitoring/promql.ts';
import { find, lint, rendered, typeErrors, validate, type KubernetesObject } from './objects.ts';

const valuesFiles = readdirSync(join(import.meta.dirname, 'values')).map((file) => file.replace('.yaml', ''));

interface Container {
  args: string[];
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
  [probe: string]: unknown;
}

interface PodSpec {
  terminationGracePeriodSeconds: number;
  securityContext: object;
  containers: [Container];
  volumes: { name: string }[];
}

const podOf = (object: KubernetesObject): PodSpec =>
  (object.spec as { template: { spec: PodSpec } }).template.spec;

const podOfCron = (object: KubernetesObject): PodSpec =>
  podOf((object.spec as { jobTemplate: KubernetesObject }).jobTemplate);

describe.each(valuesFiles)('the chart with %s.yaml', (values) => {
  it('passes helm lint, and renders objects that are valid', async () => {
    expect(lint(values)).toContain('1 chart(s) linted, 0 chart(s) failed');
    for (const object of rendered(values)) await validate(object);
  });

  it('sets only variables of the server that exist', () => {
    const known = new Set<string>(
      Object.values(settingDefinitions).flatMap((one) => [
        one.variable,
        ...('aliases' in one ? one.aliases : []).map((alias) =>
          typeof alias === 'string' ? alias : alias.name,
        ),
      ]),
    );
    const names = rendered(values)
      .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
      .flatMap((object) => podOf(object).containers[0].env.map(({ name }) => name));
    expect(names).toContain('DATABASE_URI');
    expect(names.filter((name) => /^SVC_|^DATABASE_/.test(name) && !known.has(name))).toEqual([]);
  });
});

it('the chart renders no field that Kubernetes does not know', () => {
  expect(typeErrors(valuesFiles.flatMap((values) => rendered(values)))).toBe('');
});

describe('a pod of the chart', () => {
  const objects = rendered('everything');
  const pods = ['agents-api', 'agents-worker'].map((name) => podOf(find(objects, 'Deployment', name)));
  const job = podOf(find(objects, 'Job', 'agents-migration'));
  const backup = podOfCron(find(objects, 'CronJob', 'agents-backup'));

  it('may drain its runs before it is killed', () => {
    for (const { terminationGracePeriodSeconds, containers } of pods) {
      const grace = containers[0].env.find(({ name }) => name === 'SVC_SHUTDOWN_GRACE')?.value;
      expect(grace).toBe('600s');
      // Five seconds before SIGTERM, and time to close.
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(600 + 5 + 10);
    }
  });

  it('has a read-only root and no privileges, and can write /data and /tmp', () => {
    for (const { securityContext, containers, volumes } of [...pods, job, backup]) {
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const writable = containers[0].volumeMounts.map(({ mountPath }) => mountPath);
      expect(writable).toEqual(['/data', '/tmp', '/exports']);
      expect(volumes.map(({ name }) => name)).toEqual(['data', 'tmp', 'exports']);
    }
  });

  it('asks /ok whether a pod lives, and /ready whether a worker is ready', () => {
    for (const { containers } of pods)
      expect(containers[0]['livenessProbe']).toMatchObject({ httpGet: { path: '/ok', port: 'http' } });
    expect(pods.map(({ containers }) => containers[0]['readinessProbe'])).toMatchObject([
      { httpGet: { path: '/ok?check_stopping=true', port: 'http' } },
      { httpGet: { path: '/ready', port: 'http' } },
    ]);
  });

  it('takes secrets by reference only', () => {
    const secrets = /KEY|SECRET|DATABASE|TOKEN/;
    for (const { containers } of [...pods, job, backup])
      for (const { name, value, valueFrom } of containers[0].env.filter((one) => secrets.test(one.name))) {
        expect(value, name).toBeUndefined();
        expect(valueFrom?.secretKeyRef.name, name).toBeTruthy();
      }
  });

  it('starts its role with the config file of the values; the job migrates before an upgrade', () => {
    expect(pods.map(({ containers }) => containers[0].args)).toEqual([
      ['start', '--role', 'api', '--config', 'svc.prod.json'],
      ['start', '--role', 'worker', '--config', 'svc.prod.json'],
    ]);
    expect(job.containers[0].args).toEqual(['migrate', '--config', 'svc.prod.json']);
    expect(find(objects, 'Job', 'agents-migration').metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
    });
  });
});

describe('backups of the chart', () => {
  it('are written one at a time, each to a prefix of its own', () => {
    const job = find(rendered('everything'), 'CronJob', 'agents-backup');
    expect(job.spec).toMatchObject({ schedule: '0 4 * * *', concurrencyPolicy: 'Forbid' });
    const [container] = podOfCron(job).containers;
    expect(container.args).toEqual([
      'backup',
      's3://backups/agents/$(BACKUP_NAME)',
      '--config',
      'svc.prod.json',
    ]);
    expect(container.env[0]).toEqual({
      name: 'BACKUP_NAME',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    });
    expect(container.env.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['DATABASE_URI', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION']),
    );
  });

  it('are off by default', () => {
    expect(rendered('minimal').filter(({ kind }) => kind === 'CronJob')).toEqual([]);
  });
});

describe('autoscaling of the chart', () => {
  it('by KEDA uses metrics of the server, and leaves the number of pods to it', () => {
    const objects = rendered('everything');
    const { triggers } = find(objects, 'ScaledObject', 'agents-worker').spec as {
      triggers: { metadata: { query: string; threshold: string } }[];
    };
    const queries = triggers.map(({ metadata }) => metadata.query);
    expect(queries).toEqual([
      'max(svc_queue_pending_runs{namespace="prod", service=~"agents-(api|worker)"} + svc_queue_running_runs{namespace="prod", service=~"agents-(api|worker)"})',
      'max(svc_queue_oldest_pending_seconds{namespace="prod", service=~"agents-(api|worker)"})',
    ]);
    // The test of the dashboard finds out whether a server has the metrics that it shows.
    const shown = readFileSync(join(import.meta.dirname, '../../grafana/svc.json'), 'utf8');
    for (const query of queries)
      for (const name of readsOf(query).metrics) expect(shown).toContain(`${name}{`);
    for (const role of ['api', 'worker'])
      expect(find(objects, 'Deployment', `agents-${role}`).spec['replicas']).toBeUndefined();
  });

  it('is off by default, with a fixed number of pods', () => {
    const objects = rendered('minimal');
    expect(objects.filter(({ kind }) => /Autoscaler|ScaledObject/.test(kind))).toEqual([]);
    expect(find(objects, 'Deployment', 'agents-worker').spec['replicas']).toBe(2);
    expect(find(objects, 'PodDisruptionBudget', 'agents-worker').spec['maxUnavailable']).toBe(1);
  });
});

describe('mistakes', () => {
  it.each([
    ['a number in quotes', ['--set-string', 'worker.replicas=2'], '/worker/replicas'],
    ['a misspelt value', ['--set', 'worker.replica=2'], "'replica' not allowed"],
    ['no image', ['--set', 'image.repository='], '/image/repository'],
    [
      'a secret among the variables',
      ['--set', 'variables.SVC_API_KEY=x'],
      "invalid propertyName 'SVC_API_KEY'",
    ],
    ['a backup without place', ['--set', 'backup.enabled=true'], '/backup/place'],
    [
      'a secret among the variables of the backup',
      ['--set', 'backup.variables.AWS_SECRET_ACCESS_KEY=x'],
      "invalid propertyName 'AWS_SECRET_ACCESS_KEY'",
    ],
    ['an ingress without host', ['--set', 'ingress.enabled=true'], '/ingress'],
  ])('of values are refused: %s', (_, args, message) => {
    expect(() => rendered('minimal', ...args)).toThrow(message);
  });

  it('of templates are found by the schemas and types of Kubernetes', async () => {
    const deployment = find(rendered('minimal'), 'Deployment', 'agents-api');
    const { containers } = podOf(deployment);
    const changed = (spec: object) => ({ ...deployment, spec: { ...deployment.spec, ...spec } });
    await expect(validate(changed({ replicas: '2' }))).rejects.toThrow('replicas');
    const template = { spec: { containers: [{ ...containers[0], imagePullPolcy: 'Always' }] } };
    expect(typeErrors([changed({ template })])).toMatch(/imagePullPolcy.* does not exist/);
  });
});
