import type { CallInput, Destination, destinationRoutes, NewDestination, Probe } from '@svc/contract';
import { path, type CallOptions, type Transport } from './transport.ts';

/** Keys, or a role that is assumed. */
export type NewCredentials = NonNullable<CallInput<(typeof destinationRoutes)['changeDestination']>['body']>;

const where = '/api/v1/bulk-exports/destinations';

export class DestinationsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Made once a file could be written there.
   * @example
   * await platform.destinations.create({
   *   destination_type: 's3', display_name: 'lake', config: { bucket_name: 'traces', region: 'eu-west-1' },
   *   credentials: { access_key_id, secret_access_key },
   * });
   */
  create(body: NewDestination, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.json({ method: 'POST', path: where, body, ...options });
  }

  /** Newest first. */
  list(options: CallOptions = {}): Promise<Destination[]> {
    return this.#transport.json({ method: 'GET', path: where, ...options });
  }

  get(id: string, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.json({
      method: 'GET',
      path: path`/api/v1/bulk-exports/destinations/${id}`,
      ...options,
    });
  }

  /** Other credentials, or another role, once a file could be written with them. What is under way keeps the old ones. */
  rotate(id: string, body: NewCredentials, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.json({
      method: 'PATCH',
      path: path`/api/v1/bulk-exports/destinations/${id}`,
      body,
      ...options,
    });
  }

  /** Refused while an export refers to it. */
  delete(id: string, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.json({
      method: 'DELETE',
      path: path`/api/v1/bulk-exports/destinations/${id}`,
      ...options,
    });
  }

  /** Writes a file as exports do, and says step by step what became of it. */
  test(id: string, options: CallOptions = {}): Promise<Probe> {
    return this.#transport.json({
      method: 'POST',
      path: path`/api/v1/bulk-exports/destinations/${id}/test`,
      ...options,
    });
  }
}
