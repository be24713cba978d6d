// svc doctor in this process, on a project folder and a database.
import type { SettingKey } from '../../src/config/settings/definitions.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { examine } from '../../src/cli/doctor/installation.ts';

export type Findings = Finding[] & { of(check: string): Finding[] };

/** All findings for the project in `dir`, with its data in `dir/data` unless a flag names another folder. */
export const examineInstallation = async (
  dir: string,
  {
    flags = {},
    env = {},
  }: { flags?: Partial<Record<SettingKey, string>>; env?: Record<string, string> } = {},
): Promise<Findings> => {
  const found: Finding[] = [];
  const sources = { cwd: dir, env, flags: { dataDir: `${dir}/data`, port: '0', ...flags } };
  await examine(sources, (finding) => void found.push(finding));
  return Object.assign(found, { of: (check: string) => found.filter((each) => each.check === check) });
};
