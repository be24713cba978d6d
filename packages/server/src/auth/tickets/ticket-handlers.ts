import type { ticketRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import type { TicketService } from './ticket-service.ts';

export const ticketHandlers = (tickets: TicketService): Handlers<typeof ticketRoutes> => ({
  createTicket: (_, { caller }) => tickets.create(caller),
});
