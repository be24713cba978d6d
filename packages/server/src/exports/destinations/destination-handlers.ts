import type { destinationRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { DestinationService } from './destination-service.ts';

export const destinationHandlers = (
  destinations: DestinationService,
): Handlers<typeof destinationRoutes> => ({
  createDestination: ({ body }, call) => destinations.create(grantOf(call.caller).tenant_id, body),

  listDestinations: (_, call) => destinations.list(grantOf(call.caller).tenant_id),

  getDestination: ({ params }, call) =>
    destinations.get(grantOf(call.caller).tenant_id, params.destination_id),

  changeDestination: ({ params, body }, call) =>
    destinations.change(grantOf(call.caller).tenant_id, params.destination_id, body),

  deleteDestination: ({ params }, call) =>
    destinations.delete(grantOf(call.caller).tenant_id, params.destination_id),

  testDestination: ({ params }, call) =>
    destinations.test(grantOf(call.caller).tenant_id, params.destination_id),
});
