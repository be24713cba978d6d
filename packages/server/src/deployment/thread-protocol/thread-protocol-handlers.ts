// Routes of thread protocol v2: commands, the feed of events, and the WebSocket that has both.
import type { threadProtocolRoutes } from '@svc/contract';
import { EventStreamResponse, type Handlers } from '../../api/handlers.ts';
import { SocketResponse } from '../../api/sockets.ts';
import { idempotencyKey } from '../runs/call-headers.ts';
import { eventFilter } from './event-filter.ts';
import { feedReader } from './thread-event-feed.ts';
import { ThreadSocket, type ThreadSocketParts } from './socket/thread-socket.ts';
import { answerCommand, commandCall, executeCommand } from './thread-commands.ts';

export const threadProtocolHandlers = (parts: ThreadSocketParts): Handlers<typeof threadProtocolRoutes> => ({
  sendThreadCommand: ({ params, body }, call) =>
    answerCommand(commandCall(params.thread_id, body, { call, key: () => idempotencyKey(call) }), (command) =>
      executeCommand(parts.commands, command),
    ),
  streamThreadEvents: async ({ params, body }, call) => {
    const { since, ...selection } = body;
    const reader = await feedReader(call, params.thread_id);
    await parts.feed.assertReadable(reader);
    const request = { ...reader, filter: eventFilter(selection), since };
    return new EventStreamResponse((sink, stop) => parts.feed.read(request, sink, stop), 'since');
  },
  openThreadSocket: async ({ params: { thread_id } }, call) => {
    await parts.feed.assertReadable(await feedReader(call, thread_id));
    return new SocketResponse((peer) => new ThreadSocket(parts, thread_id, peer));
  },
});
