// A ticket opens one WebSocket in the name of the caller who created it, because browsers cannot send headers with the handshake. Every node accepts
// it, once, within a minute.
import { randomBytes } from 'node:crypto';
import type { Ticket, ticketRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { TicketMode, TicketStorage } from '../../storage/auth/tickets.ts';
import {
  type Authenticate,
  type Caller,
  callerOf,
  type Credentials,
  type User,
} from '../principal/caller.ts';
import type { LazySealer } from '../sealed-users/lazy-sealer.ts';
import { sha256 } from '../sha256.ts';
import type { Handlers } from '../../api/handlers.ts';

export interface TicketServiceParts {
  storage: TicketStorage;
  sealer: Pick<LazySealer, 'get'>;
  /** How this server authenticates. */
  mode: TicketMode;
}

const limits = { seconds: 60, count_max: 100 };
const ticketBytes = 32;
const format = /^[\w-]{43}$/;

/** A user is encrypted for one ticket. */
const purposeOf = (hash: Buffer): string => `ticket ${hash.toString('hex')}`;

export class TicketService {
  readonly #parts: TicketServiceParts;

  constructor(parts: TicketServiceParts) {
    this.#parts = parts;
  }

  async create({ user, countedAs }: Caller): Promise<Ticket> {
    const { storage, sealer, mode } = this.#parts;
    const ticket = randomBytes(ticketBytes).toString('base64url');
    const hash = sha256(ticket);
    const sealed_user =
      user === undefined ? null : (await sealer.get()).seal(JSON.stringify(user), purposeOf(hash));
    const expires_at = await storage.create(
      {
        hash,
        mode,
        caller: sha256(countedAs ?? ''),
        counted_as: user === undefined ? (countedAs ?? null) : null,
        sealed_user,
      },
      limits,
    );
    if (expires_at === undefined)
      throw new Problem('rate_limited', `You have ${limits.count_max} unused tickets, which is the limit.`, {
        retryAfterSeconds: limits.seconds,
      });
    return { ticket, expires_at };
  }

  /** Accepts tickets in addition. All messages on a connection that was opened with a ticket have the caller of the ticket. */
  around(authenticate: Authenticate): Authenticate {
    const callers = new WeakMap<Credentials, Promise<Caller>>();
    return (credentials) => {
      if (credentials.ticket === undefined) return authenticate(credentials);
      const caller = callers.get(credentials) ?? this.#redeem(credentials.ticket);
      callers.set(credentials, caller);
      return caller;
    };
  }

  async #redeem(ticket: string): Promise<Caller> {
    const { storage, sealer, mode } = this.#parts;
    const hash = sha256(ticket);
    const holder = format.test(ticket) ? await storage.redeem(hash) : undefined;
    if (holder === undefined || holder.mode !== mode)
      throw new Problem('unauthenticated', 'The ticket does not exist, was used, or has expired.');
    const { counted_as, sealed_user } = holder;
    if (sealed_user === null) return { user: undefined, countedAs: counted_as ?? undefined };
    const text = (await sealer.get()).open(sealed_user, purposeOf(hash));
    return callerOf(JSON.parse(text) as User);
  }
}

export const ticketHandlers = (tickets: TicketService): Handlers<typeof ticketRoutes> => ({
  createTicket: (_, { caller }) => tickets.create(caller),
});
