// svc doctor: checks an installation, without a running server and without changing anything.
import type { ConfigSources } from '../../config/config.ts';
import type { Finding } from '../doctor/finding.ts';
import { examine } from '../doctor/installation.ts';
import { printable } from '../server-address.ts';
import { exitCodes } from '../output/exit-code.ts';
import { plural } from '../output/quantities.ts';

/** Prints the findings. The exit code is 1 when there is a problem. */
export async function doctor(sources: ConfigSources, json: boolean): Promise<void> {
  const findings: Finding[] = [];
  await examine(sources, (finding) => {
    findings.push(finding);
    if (!json && finding.status !== 'skipped') console.log(textOf(finding));
  });
  if (!json) for (const line of skippedLines(findings)) console.log(line);
  const count = (status: Finding['status']): number =>
    findings.filter((finding) => finding.status === status).length;
  const [problems, warnings, skipped] = [count('problem'), count('warning'), count('skipped')];
  if (json) console.log(JSON.stringify({ ok: problems === 0, skipped, checks: findings }, null, 2));
  else console.log(`\n${summaryOf(problems, warnings, skipped)}`);
  process.exitCode = problems === 0 ? exitCodes.done : exitCodes.failed;
}

/** Checks that were skipped may have problems. */
const summaryOf = (problems: number, warnings: number, skipped: number): string => {
  if (skipped === 0) return `${plural(problems, 'problem')}, ${plural(warnings, 'warning')}`;
  return `${plural(problems, 'problem')} and ${plural(warnings, 'warning')} found; ${plural(skipped, 'check')} skipped, so there may be more`;
};

const width = 9;

/** Values may come from users, so control characters, which could move the cursor of a terminal, are replaced. */
const textOf = ({ status, check, message, remedy }: Finding): string =>
  [`${status.padEnd(width)}${check}: ${message}`, ...(remedy === undefined ? [] : [remedy])]
    .map(printable)
    .join(`\n${' '.repeat(width)}`);

/** One line for each reason, because one reason mostly concerns several checks. */
const skippedLines = (findings: readonly Finding[]): string[] => {
  const checks = new Map<string, string[]>();
  for (const { status, check, message } of findings)
    if (status === 'skipped') checks.set(message, [...(checks.get(message) ?? []), check]);
  return [...checks].map(([message, names]) =>
    textOf({ status: 'skipped', check: names.join(', '), message }),
  );
};
