// svc conformance: checks a server from outside, and prints a table.
import { writeFile } from 'node:fs/promises';
import type { Area, ConformanceReport, ScenarioResult } from '@svc/conformance';
import { ServerUnreachable, UsageError } from '../output/exit-code.ts';
import type { FlagValues } from '../flags.ts';
import { printable } from '../server-address.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { printTable } from '../output/table.ts';

/** Sets the exit code 1 when a check failed, or when none could be tried. */
export async function conformance(url: string, values: FlagValues): Promise<void> {
  const { runConformance, ServerNotReached } = await import('@svc/conformance');
  assertAddress(url);
  using line = new ProgressLine(process.stderr);
  const options = {
    url,
    headers: headersOf('--header', values['header']) ?? {},
    secondHeaders: headersOf('--second-header', values['secondHeader']),
    only: await areasOf(values['only']),
    timeoutMs: secondsOf(values['timeout']) * 1_000,
    agent: String(values['agent'] as string),
    approval: String(values['approval'] as string),
    onResult: ({ area, title }: ScenarioResult) => line.show(`${area}: ${title}`),
  };
  try {
    const report = await runConformance(options);
    line[Symbol.dispose]();
    const file = values['json'];
    if (typeof file === 'string') await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
    print(report);
    if (!report.passed) process.exitCode = 1;
  } catch (error) {
    if (error instanceof ServerNotReached) throw new ServerUnreachable(error.message, { cause: error });
    throw error;
  }
}

const print = ({ url, counts, passed, results }: ConformanceReport): void => {
  printTable(
    ['AREA', 'RESULT', 'MS', 'BEHAVIOUR'],
    results.map(({ area, outcome, ms, title }) => [area, outcome, String(ms), title]),
  );
  for (const { area, title, outcome, reason = '' } of results)
    if (outcome !== 'passed') console.log(`\n${area}: ${title}\n  ${outcome}: ${printable(reason)}`);
  const numbers = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
  const verdict = counts.passed === 0 && counts.failed === 0 ? 'nothing could be tried' : numbers.join(', ');
  console.log(`\n${url}: ${passed ? 'conforms' : 'does not conform'} (${verdict})`);
};

const mistake = (flag: string, value: unknown, remedy: string): UsageError =>
  new UsageError({ where: `flag ${flag}`, value: JSON.stringify(value), problem: 'is invalid', remedy });

const assertAddress = (url: string): void => {
  if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) return;
  throw mistake('URL', url, 'Give the address of a server, such as http://127.0.0.1:2024.');
};

const headersOf = (flag: string, given: unknown): Record<string, string> | undefined => {
  if (!Array.isArray(given)) return undefined;
  const headers: Record<string, string> = {};
  for (const text of given as string[]) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(\S.*)$/.exec(text) ?? [];
    if (name === '') throw mistake(flag, 'a header', `Write ${flag} 'authorization: Bearer …'.`);
    headers[name] = value.trim();
  }
  return headers;
};

const areasOf = async (given: unknown): Promise<Area[] | undefined> => {
  if (typeof given !== 'string') return undefined;
  const { areas, isArea } = await import('@svc/conformance');
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !isArea(name));
  if (unknown !== undefined) throw mistake('--only', unknown, `Name areas of: ${areas.join(', ')}.`);
  return names.filter(isArea);
};

const secondsOf = (given: unknown): number => {
  const seconds = Number(given);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 3_600) return seconds;
  throw mistake('--timeout', given, 'Give seconds between 1 and 3600.');
};
