// Bodies as web streams.
import { tooLarge } from './body.ts';

/** The same body, whose reader gets an error after `bytesMax`. `onExceeded` is called then. */
export const limitedBody = (
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  onExceeded: () => void,
): ReadableStream<Uint8Array> => {
  let size = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > bytesMax) {
          onExceeded();
          throw tooLarge(bytesMax);
        }
        controller.enqueue(chunk);
      },
    }),
  );
};

/**
 * The same body. `onEnd` is called once: at its end, or with an error, which ends the body too. Instead of it, `onCancel` is called when
 * the reader cancels.
 */
export const watchedBody = (
  body: ReadableStream<Uint8Array>,
  { onEnd, onCancel }: { onEnd: (error?: unknown) => void; onCancel: () => void },
): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          onEnd();
        } catch (error) {
          onEnd(error);
        }
        controller.close();
      },
      cancel(reason) {
        onCancel();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};
