/** Lines that wait to be sent, with those that are being sent. */
export const waitingLinesMax = 2_048;
const waitingBytesMax = 4_194_304;

/** Counts the lines that wait to be sent, in their order, and those that were not sent. */
export class WaitingLines {
  /** Bytes of each line, oldest first. */
  readonly #sizes: number[] = [];
  #bytes = 0;
  /** Lines that found too many others waiting. */
  dropped = 0;
  /** Lines that the receiver has not accepted. */
  failed = 0;

  /** False when the line does not fit, and is dropped. */
  add(bytes: number): boolean {
    if (this.#sizes.length >= waitingLinesMax || this.#bytes + bytes > waitingBytesMax) {
      this.dropped += 1;
      return false;
    }
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    return true;
  }

  /** The oldest lines wait no more. */
  remove(count: number, isSent: boolean): void {
    for (const bytes of this.#sizes.splice(0, count)) this.#bytes -= bytes;
    if (!isSent) this.failed += count;
  }
}
