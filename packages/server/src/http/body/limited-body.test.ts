import type { UnderlyingSource } from 'node:stream/web';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/http-app.ts';
import { watchedBody } from './limited-body.ts';

/** What a watched body has reported, in order. */
const watch = (source: UnderlyingSource<Uint8Array>, closesOnError = false) => {
  const reports: unknown[] = [];
  const body = watchedBody(new ReadableStream(source, { highWaterMark: 0 }), {
    onEnd: (error) => void reports.push(error ?? 'end'),
    onCancel: () => void reports.push('cancel'),
    closesOnError,
  });
  return { body, reports };
};

const failure = new Error('upstream is gone');
const failing: UnderlyingSource<Uint8Array> = {
  start: (controller) => controller.enqueue(Buffer.from('half')),
  pull: (controller) => controller.error(failure),
};

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a watched body', () => {
  it('reports its end', async () => {
    const { body, reports } = watch({ start: (controller) => controller.close() });
    expect(await new Response(body).text()).toBe('');
    expect(reports).toEqual(['end']);
  });

  it('fails when its source fails', async () => {
    const { body, reports } = watch(failing);
    await expect(new Response(body).text()).rejects.toBe(failure);
    expect(reports).toEqual([failure]);
  });

  it('may end when its source fails, where the error is sent in another way', async () => {
    const { body, reports } = watch(failing, true);
    expect(await new Response(body).text()).toBe('half');
    expect(reports).toEqual([failure]);
  });

  it('reports only the cancel of a reader that waits for bytes', async () => {
    const asked = deferred<void>();
    const { body, reports } = watch({ pull: () => asked.resolve() });
    const reader = body.getReader();
    const read = reader.read();
    await asked.promise;
    await reader.cancel();
    expect((await read).done).toBe(true);
    // The read of the source ends in this turn.
    await turn();
    expect(reports).toEqual(['cancel']);
  });
});
