// An exporter that records every step in a file, and executes the plan's action at one of them: die, freeze, fail, or wait for a file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveExports } from '../../src/exports/exporter/serve.ts';
import type { Plan } from './exporter-plan.ts';

const folder = process.env['SVC_TEST_EXPORTER_PLAN'] ?? '';
const stepsFile = `${folder}/steps`;

const onStep = async (
  step: string,
  { lease }: { lease: { id: string; lease_token: number } },
): Promise<void> => {
  const noted = existsSync(stepsFile) ? readFileSync(stepsFile, 'utf8').split('\n') : [];
  const nth = noted.filter((line) => line.startsWith(`${step};`)).length + 1;
  appendFileSync(stepsFile, `${step};${lease.id};${lease.lease_token};${process.pid}\n`);
  const plans = existsSync(`${folder}/plan`)
    ? (JSON.parse(readFileSync(`${folder}/plan`, 'utf8')) as Plan[])
    : [];
  const plan = plans.find((one) => one.step === step && (one.nth === nth || one.nth === 'every'));
  if (!plan) return;
  if (plan.action === 'fail') throw new RangeError('as planned');
  if (plan.action === 'wait') while (!existsSync(`${folder}/go`)) await sleep(5);
  else process.kill(process.pid, plan.action === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  // The signal may take a moment.
  if (plan.action !== 'wait') await sleep(50);
};

serveExports({ onStep, onManifestStep: onStep });
