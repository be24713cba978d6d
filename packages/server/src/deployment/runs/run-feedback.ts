// Links for feedback on a run, for the client that has requested them with `feedback_keys`.
import type { Logger } from 'pino';
import type { EventSink } from '../../api/handlers.ts';

/** A run, the keys of `feedback_keys`, and the address that the client uses. */
export interface FeedbackRequest {
  run_id: string;
  keys: readonly string[];
  address: string;
}

export class RunFeedback {
  readonly #create: (request: FeedbackRequest) => Promise<Record<string, string>>;
  readonly #logger: Logger;

  /** `create` returns a link for each key. */
  constructor(create: (request: FeedbackRequest) => Promise<Record<string, string>>, logger: Logger) {
    this.#create = create;
    this.#logger = logger;
  }

  linksOf(request: FeedbackRequest): RunFeedbackLinks {
    return new RunFeedbackLinks(() => this.#links(request));
  }

  /** JSON text; undefined when the links cannot be stored: the run has ended all the same. */
  async #links(request: FeedbackRequest): Promise<string | undefined> {
    try {
      return JSON.stringify(await this.#create(request));
    } catch (err) {
      this.#logger.warn({ err, run_id: request.run_id }, 'the links for feedback on a run are not stored');
      return undefined;
    }
  }
}

/** The links of one response. They are created when the run has ended. */
export class RunFeedbackLinks {
  readonly #create: () => Promise<string | undefined>;

  constructor(create: () => Promise<string | undefined>) {
    this.#create = create;
  }

  /** Sends the links as the last event of a stream, without an id, since the log of the run does not have it. */
  async sendTo(sink: EventSink): Promise<void> {
    const links = await this.#create();
    if (links !== undefined) sink.send({ event: 'feedback', data: links });
  }

  /** Adds the links to the JSON text of a result. Only an object has a place for them. */
  async addTo(result: Promise<string>): Promise<string> {
    const text = await result;
    if (!text.startsWith('{')) return text;
    const links = await this.#create();
    if (links === undefined) return text;
    return `{"__feedback__":${links}${text === '{}' ? '' : ','}${text.slice(1)}`;
  }
}
