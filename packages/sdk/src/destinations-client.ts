import type { Destination, NewDestination, Probe } from '@svc/contract';
import type { Body, CallOptions, Transport } from './transport.ts';

/** Keys, or a role to assume. */
export type NewCredentials = Body<'changeDestination'>;

export class DestinationsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a destination after the server has written a test file to it.
   * @example
   * await platform.destinations.create({
   *   destination_type: 's3', display_name: 'lake', config: { bucket_name: 'traces', region: 'eu-west-1' },
   *   credentials: { access_key_id, secret_access_key },
   * });
   */
  create(body: NewDestination, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.call('createDestination', { body }, options);
  }

  /** Newest first. */
  list(options: CallOptions = {}): Promise<Destination[]> {
    return this.#transport.call('listDestinations', {}, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.call('getDestination', { params: { destination_id: id } }, options);
  }

  /**
   * Replaces the credentials or the role, after the server has written a test file with the new ones. Exports that are running keep
   * the old ones.
   */
  rotate(id: string, body: NewCredentials, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.call('changeDestination', { params: { destination_id: id }, body }, options);
  }

  /** Fails with conflict while an export refers to the destination. */
  delete(id: string, options: CallOptions = {}): Promise<Destination> {
    return this.#transport.call('deleteDestination', { params: { destination_id: id } }, options);
  }

  /** Writes a file as exports do, and returns the outcome of each step. */
  test(id: string, options: CallOptions = {}): Promise<Probe> {
    return this.#transport.call('testDestination', { params: { destination_id: id } }, options);
  }
}
