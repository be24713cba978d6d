// Writes a small file as exports do, and says step by step what became of it.
import { randomUUID } from 'node:crypto';
import type { Probe, ProbeStep } from '@svc/contract';
import { withDeadline } from './deadline.ts';
import { DestinationError, StoreConflict } from './destination-error.ts';
import type { ProbedStore } from './file-store.ts';
import { toDestinationError } from './s3-error.ts';
import type { Abilities } from './store-target.ts';

/** For all steps together. */
export const probeMs = 30_000;

const content = 'Written by svc to see whether exports can be. It may be deleted.\n';
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

  /** What the work returns is what is wrong; undefined when nothing is. */
  async take(
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

/** Never throws for what the place does. The store stays open. */
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
  await steps.take(
    'address',
    true,
    timed((within) => store.findAddress(within)),
  );
  const { assumeRole } = store;
  if (steps.ok && assumeRole) await steps.take('assume_role', true, timed(assumeRole));
  if (steps.ok)
    await steps.take(
      'put',
      true,
      timed((within) => store.putText(key, content, contentType, within)),
    );
  if (steps.ok) {
    abilities.can_head = await steps.take(
      'head',
      false,
      timed((within) => look(store, key, within)),
    );
    abilities.can_put_if_none_match = await steps.take(
      'put_if_none_match',
      false,
      timed((within) => overwrite(store, key, within)),
    );
    abilities.can_delete = await steps.take(
      'delete',
      false,
      timed((within) => store.remove(key, within)),
    );
    if (!abilities.can_delete) notes.push(`The file of this test may have stayed: ${key} below the prefix.`);
  }
  return { ok: steps.ok, steps: steps.steps, notes, abilities };
};

const look = async (store: ProbedStore, key: string, signal: AbortSignal): Promise<string | undefined> => {
  const found = await store.head(key, signal);
  if (found === 'unknown')
    return 'Without s3:GetObject and s3:ListBucket, what was written cannot be looked at.';
  if (found === undefined) return 'What was written is not there.';
  if (found.bytes !== content.length) return 'What was written is there with another size.';
  return found.sha256 === undefined
    ? 'The place keeps no metadata: files are compared by their size.'
    : undefined;
};

const overwrite = async (
  store: ProbedStore,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> => {
  try {
    await store.createText(key, content, contentType, signal);
    return 'The place replaces a file though it is asked not to.';
  } catch (error) {
    if (error instanceof StoreConflict) return undefined;
    throw error;
  }
};

/** Of the step that failed. */
export const probeFailure = ({ steps }: Probe): DestinationError => {
  const failed = steps.find(({ ok, required }) => required && !ok);
  return new DestinationError(failed?.message ?? '', { code: failed?.code ?? 'Unknown', isFinal: true });
};
