/** Feedback in a part of a multipart body, as it was sent. */
export interface SentFeedback {
  /** The id in the name of the part. */
  id: string;
  content: Uint8Array;
}

/** Of a request. Feedback is parsed on the main thread, and each is stored by a statement of its own. */
const limits = { count: 1_000, bytes: 1_048_576 };

/** The feedback of a request, up to the limits. */
export class FeedbackParts {
  readonly all: SentFeedback[] = [];
  #bytes = 0;

  /** Returns why the part is refused, or undefined. */
  add(part: SentFeedback): string | undefined {
    const bytes = this.#bytes + part.content.length;
    if (this.all.length === limits.count || bytes > limits.bytes)
      return `a request has at most ${limits.count} feedback parts, of ${limits.bytes} bytes together`;
    this.#bytes = bytes;
    this.all.push(part);
    return undefined;
  }
}
