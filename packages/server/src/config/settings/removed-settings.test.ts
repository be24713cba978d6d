import { expect, it } from 'vitest';
import { settingDefinitions, settingKeys } from './definitions.ts';
import { isRemovedKey, removedSettings } from './removed-settings.ts';
import { readSettings } from './settings.ts';

const file = { name: 'svc.json', dir: '/project', settings: {}, env: {} };
const textsOf = (env: Record<string, string>, more: Partial<typeof file> = {}): string[] =>
  removedSettings({ env, file: { ...file, ...more } }).map(
    ({ where, problem, remedy }) => `${where} ${problem}. ${remedy}`,
  );

it.each([
  ['SVC_HEARTBEAT', 'SVC_HEARTBEAT was removed. Heartbeats are sent every 5 seconds. Remove the setting.'],
  ['SVC_STREAMS_MAX', expect.stringContaining('SVC_STREAMS_PER_CALLER') as string],
  ['SVC_EXPORT_QUOTA', expect.stringContaining('SVC_EXPORT_FILE_ROOTS') as string],
  [
    'SVC_OTEL_EXPORTER_OTLP_ENDPOINT',
    expect.stringContaining('Set OTEL_EXPORTER_OTLP_ENDPOINT in the environment instead') as string,
  ],
])('%s is refused, with what holds instead', (variable, text) => {
  expect(textsOf({ [variable]: '1' })).toEqual([text]);
  expect(readSettings({ env: { [variable]: '1' }, cwd: '/work' }).mistakes).toHaveLength(1);
});

it('an empty variable counts as not set', () => {
  expect(textsOf({ SVC_HEARTBEAT: '' })).toEqual([]);
});

it('svc.json is refused with a removed variable or key', () => {
  expect(textsOf({}, { env: { SVC_JSON_DEPTH: '9' } })).toEqual([
    expect.stringMatching(/^svc\.json env SVC_JSON_DEPTH was removed\. .* 100 levels/),
  ]);
  const settings = { cancelGrace: '5s', otlpEndpoint: 'http://collector:4318' };
  expect(textsOf({}, { settings })).toEqual([
    expect.stringMatching(/^svc\.json settings\.cancelGrace was removed\. .* 10 seconds/),
    expect.stringMatching(/^svc\.json settings\.otlpEndpoint was removed\. .* OpenTelemetry/),
  ]);
  const { mistakes } = readSettings({ env: {}, cwd: '/work', file: { ...file, settings } });
  expect(mistakes).toHaveLength(2);
});

it('no setting is a removed one', () => {
  const env = Object.fromEntries(settingKeys.map((key) => [settingDefinitions[key].variable, 'x']));
  expect(textsOf(env)).toEqual([]);
  expect(settingKeys.filter((key) => isRemovedKey(key))).toEqual([]);
});
