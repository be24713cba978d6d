import { expect, it } from 'vitest';
import { noSettings, readSettings } from './run-settings.ts';

it('settings become options of a run; empty ones are not sent', () => {
  expect(readSettings(noSettings)).toEqual({ options: {} });
  expect(
    readSettings({
      configurable: { as: 'json', text: '{ "user": 7 }' },
      context: { as: 'json', text: '[1]' },
      stopBefore: ' tools,, review ',
    }),
  ).toEqual({
    options: { config: { configurable: { user: 7 } }, context: [1], interrupt_before: ['tools', 'review'] },
  });
});

it('settings with an integer that the browser rounds are not sent', () => {
  const draft = { as: 'json', text: '{ "user": 9007199254740993 }' } as const;
  const rounded = '9007199254740993 would be rounded: write it as a text.';
  expect(readSettings({ ...noSettings, configurable: draft })).toEqual({
    problem: `Configurable: ${rounded}`,
  });
  expect(readSettings({ ...noSettings, context: draft })).toEqual({ problem: `Context: ${rounded}` });
});
