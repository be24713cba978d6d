import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withSettingsTable } from '../../scripts/settings-table.ts';

it('docs/configuration.md has the current table of settings (npm run generate)', () => {
  const committed = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(committed).toBe(withSettingsTable(committed));
});
