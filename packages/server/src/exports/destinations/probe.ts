// Tests a destination: writes, reads and deletes a small file in the same way as exports do, and reports the result of each step.
import { randomUUID } from 'node:crypto';
import type { Probe, ProbeStep } from '@svc/contract';
import { withDeadline } from '../../s3/deadline.ts';
import { DestinationError, StoreConflict } from '../../s3/destination-error.ts';
import type { ProbedStore } from './file-store.ts';
import { toDestinationError } from '../../s3/s3-error.ts';
import type { Abilities } from './store-target.ts';

/** Time limit for all steps together. */
export const probeMs = 30_000;

const content =
  'Written by svc to test whether it can export to this destination. You can delete this file.\n';
const contentType = 'text/plain';

export interface Probed extends Probe {
  abilities: Abilities;
}

type StepName = ProbeStep['name'];

class Steps {
  readonly steps: ProbeStep[] = [];

  get ok(): boolean {
    return this.steps.every(({ ok, required }) => ok || !required);
  }

  /** Runs one step. `work` returns a message when the step failed without an error. Returns true when the step succeeded. */
  async run(
    name: StepName,
    required: boolean,
    work: () => Promise<string | undefined | void>,
  ): Promise<boolean> {
    let code: string | null = null;
    let message: string | null;
    try {
      message = (await work()) ?? null;
    } catch (error) {
      ({ code, message } = toDestinationError(error));
    }
    const ok = code === null && message === null;
    this.steps.push({ name, ok, required, code, message });
    return ok;
  }
}

/** Errors of the destination become failed steps; they are not thrown. The store stays open. */
export const probe = async (
  store: ProbedStore,
  { signal, notes = [], limitMs = probeMs }: { signal: AbortSignal; notes?: string[]; limitMs?: number },
): Promise<Probed> => {
  const steps = new Steps();
  const abilities: Abilities = { can_head: false, can_delete: false, can_put_if_none_match: false };
  const key = `tmp/svc-probe-${randomUUID()}.txt`;
  const timed =
    (work: (signal: AbortSignal) => Promise<string | undefined | void>) =>
    (): Promise<string | undefined | void> =>
      withDeadline(signal, Math.max(1, untilMs - performance.now()), work);
  const untilMs = performance.now() + limitMs;
  await steps.run(
    'address',
    true,
    timed((within) => store.findAddress(within)),
  );
  const { assumeRole } = store;
  if (steps.ok && assumeRole) await steps.run('assume_role', true, timed(assumeRole));
  if (steps.ok)
    await steps.run(
      'put',
      true,
      timed((within) => store.putText(key, content, contentType, within)),
    );
  if (steps.ok) {
    abilities.can_head = await steps.run(
      'head',
      false,
      timed((within) => verify(store, key, within)),
    );
    abilities.can_put_if_none_match = await steps.run(
      'put_if_none_match',
      false,
      timed((within) => overwrite(store, key, within)),
    );
    abilities.can_delete = await steps.run(
      'delete',
      false,
      timed((within) => store.remove(key, within)),
    );
    if (!abilities.can_delete)
      notes.push(`The test file may not have been deleted: ${key} below the prefix.`);
  }
  return { ok: steps.ok, steps: steps.steps, notes, abilities };
};

const verify = async (store: ProbedStore, key: string, signal: AbortSignal): Promise<string | undefined> => {
  const found = await store.head(key, signal);
  if (found === 'unknown')
    return 'Uploads cannot be verified without the permissions s3:GetObject and s3:ListBucket.';
  if (found === undefined) return 'The written file does not exist.';
  if (found.bytes !== content.length)
    return `The written file has ${found.bytes} bytes instead of ${content.length}.`;
  return found.sha256 === undefined
    ? 'The destination does not store metadata: uploads are verified by their size only.'
    : undefined;
};

const overwrite = async (
  store: ProbedStore,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> => {
  try {
    await store.createText(key, content, contentType, signal);
    return 'The service ignores If-None-Match and overwrites existing files.';
  } catch (error) {
    if (error instanceof StoreConflict) return undefined;
    throw error;
  }
};

/** The error of the required step that failed. */
export const probeFailure = ({ steps }: Probe): DestinationError => {
  const failed = steps.find(({ ok, required }) => required && !ok);
  return new DestinationError(failed?.message ?? '', { code: failed?.code ?? 'Unknown', isFinal: true });
};
