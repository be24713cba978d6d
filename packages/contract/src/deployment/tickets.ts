// Tickets: credentials for one WebSocket, for clients that can send no headers.
import * as z from 'zod';
import { route } from '../route.ts';

export const Ticket = z
  .object({
    ticket: z.string().describe('The parameter `ticket` of the WebSocket'),
    expires_at: z.string().describe('ISO 8601 in UTC'),
  })
  .meta({ id: 'Ticket' });
export type Ticket = z.output<typeof Ticket>;

export const ticketRoutes = {
  createTicket: route({
    method: 'post',
    path: '/auth/tickets',
    summary: 'Create a ticket, with which a client that can send no headers opens one WebSocket',
    description: 'The ticket stands for the caller, is valid for 60 s, and is accepted once.',
    tag: 'Thread protocol',
    access: 'caller',
    response: Ticket,
  }),
};
