// Actions of a test's exporters at their steps, and a record of the steps.
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Step } from '../../src/exports/exporter/commit-protocol.ts';
import type { ManifestStep } from '../../src/exports/exporter/manifest-writing.ts';

export type PlannedStep = Step | ManifestStep;

export interface Plan {
  step: PlannedStep;
  /** Counted over all exporters. */
  nth: number | 'every';
  action: 'kill' | 'freeze' | 'wait' | 'fail';
}

export const plannedExporter = fileURLToPath(new URL('./planned-exporter.js', import.meta.url));

/** An exporter that starts when the plan allows it. */
export const slowExporter = fileURLToPath(new URL('./slow-exporter.js', import.meta.url));

export interface RecordedStep {
  step: PlannedStep;
  id: string;
  lease_token: number;
  pid: number;
}

/** Applies to the exporters that this process forks from now on. */
export class ExporterPlan implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-exporter-plan-'));

  constructor(...plans: Plan[]) {
    process.env['SVC_TEST_EXPORTER_PLAN'] = this.#folder;
    writeFileSync(join(this.#folder, 'plan'), JSON.stringify(plans));
  }

  get steps(): RecordedStep[] {
    const file = join(this.#folder, 'steps');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [step = '', id = '', token, pid] = line.split(';');
      return { step: step as PlannedStep, id, lease_token: Number(token), pid: Number(pid) };
    });
  }

  count(step: PlannedStep): number {
    return this.steps.filter((noted) => noted.step === step).length;
  }

  /** Lets waiting exporters continue. */
  go(): void {
    writeFileSync(join(this.#folder, 'go'), '');
  }

  [Symbol.dispose](): void {
    this.go();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
