import type { Job, JobRow } from '@svc/contract';
import type { Body, CallOptions, Result, Transport } from './transport.ts';

export type JobRequest = Body<'createJob'>;
export type JobPreview = Result<'createJob'>;

/** `next`: undefined on the last page. */
export interface JobRowPage {
  rows: JobRow[];
  next: number | undefined;
}

/** Actions on many runs or threads, which the server executes. */
export class JobsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Finds the rows of a job, which waits for its start.
   * @example
   * const preview = await client.jobs.create({ kind: 'cancel_runs', filter: { graph_id: 'agent' } });
   * await client.jobs.start(preview.job_id);
   */
  create(body: JobRequest, options: CallOptions = {}): Promise<JobPreview> {
    return this.#transport.call('createJob', { body }, options);
  }

  start(jobId: string, options: CallOptions = {}): Promise<Job> {
    return this.#transport.call('startJob', { params: { job_id: jobId } }, options);
  }

  /** Rows without a result stay as they are. */
  cancel(jobId: string, options: CallOptions = {}): Promise<Job> {
    return this.#transport.call('cancelJob', { params: { job_id: jobId } }, options);
  }

  get(jobId: string, options: CallOptions = {}): Promise<Job> {
    return this.#transport.call('getJob', { params: { job_id: jobId } }, options);
  }

  /** Newest first. */
  list(query: { limit?: number; offset?: number } = {}, options: CallOptions = {}): Promise<Job[]> {
    return this.#transport.call('listJobs', { query }, options);
  }

  /** One page of rows. `after` in the next call is its `next`. */
  async rows(
    jobId: string,
    query: { result?: (JobRow['result'] & string)[]; limit?: number; after?: number | undefined } = {},
    options: CallOptions = {},
  ): Promise<JobRowPage> {
    const response = await this.#transport.open('listJobRows', { params: { job_id: jobId }, query }, options);
    const next = response.headers.get('x-pagination-next');
    return { rows: (await response.json()) as JobRow[], next: next === null ? undefined : Number(next) };
  }
}
