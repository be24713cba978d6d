// Bodies as web streams.
import { tooLarge } from './body.ts';

/** Returns the body with a limit: after `bytesMax`, it calls `onExceeded`, and its reader gets an error. */
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
 * Returns the same body. Calls `onEnd` once when the body ends, or `onEnd(error)` when it fails; then its reader gets the error. With
 * `closesOnError` the reader gets an end instead, because `onEnd` has closed the connection. If the reader cancels, `onCancel` is called
 * instead of `onEnd`.
 */
export const watchedBody = (
  body: ReadableStream<Uint8Array>,
  {
    onEnd,
    onCancel,
    closesOnError = false,
  }: { onEnd: (error?: unknown) => void; onCancel: () => void; closesOnError?: boolean },
): ReadableStream<Uint8Array> => {
  const reader = body.getReader();
  let isCancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          // The cancel has ended the read.
          if (isCancelled) return;
          if (!done) return controller.enqueue(value);
          onEnd();
        } catch (error) {
          if (isCancelled) return;
          onEnd(error);
          if (!closesOnError) return controller.error(error);
        }
        controller.close();
      },
      cancel(reason) {
        isCancelled = true;
        onCancel();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};
