// Objects that the chart renders, checked against the schemas of Kubernetes, KEDA and the Prometheus operator.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { helm } from './helm.ts';

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string>; labels: Record<string, string> };
  spec: Record<string, unknown>;
}

type Model = new (object: unknown) => { validate(): void };

const packages: Record<string, string> = {
  'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
};

const chart = join(import.meta.dirname, '../../chart/svc');

const valuesFile = (name: string): string => join(import.meta.dirname, 'values', `${name}.yaml`);

/** The objects of a values file. `more`: further arguments of helm, such as `--set`. */
export const rendered = (values: string, ...more: string[]): KubernetesObject[] =>
  parseAllDocuments(
    helm('template', 'agents', chart, '--namespace', 'prod', '--values', valuesFile(values), ...more),
    { version: '1.1', uniqueKeys: true, strict: true },
  )
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as KubernetesObject | null;
    })
    .filter((object) => object !== null);

export const lint = (values: string): string =>
  helm('lint', '--strict', chart, '--values', valuesFile(values));

const moduleOf = (apiVersion: string): string => packages[apiVersion] ?? `kubernetes-models/${apiVersion}`;

/** Throws for a field that is missing, or that has another type or format. Unknown fields are found by `typeErrors()`. */
export const validate = async (object: KubernetesObject): Promise<void> => {
  const { apiVersion, kind } = object;
  const { [kind]: Kind } = (await import(moduleOf(apiVersion))) as Record<string, Model | undefined>;
  if (Kind === undefined) throw new Error(`no schema of ${kind} in ${apiVersion}`);
  new Kind(object).validate();
};

/** What the compiler says about the objects as literals of their types: unknown fields, too. Empty when everything is right. */
export const typeErrors = (objects: readonly KubernetesObject[]): string => {
  const folder = join(import.meta.dirname, '../node_modules/.cache/objects');
  mkdirSync(folder, { recursive: true });
  const lines = objects.map(
    (object, index) =>
      `import type { I${object.kind} as T${index} } from '${moduleOf(object.apiVersion)}';\nexport const o${index}: T${index} = ${JSON.stringify(object, null, 2)};`,
  );
  writeFileSync(join(folder, 'objects.ts'), `${lines.join('\n')}\n`);
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.ts'] }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const tsc = join(import.meta.dirname, '../../../node_modules/.bin/tsc');
  return spawnSync(tsc, ['-p', folder], { encoding: 'utf8' }).stdout;
};

export const find = (objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject => {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
};
