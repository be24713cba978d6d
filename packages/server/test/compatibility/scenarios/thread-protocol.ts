import { type FeedEvent, isRunEnd } from '../../thread-protocol/feed.ts';
import { newThread, said, type Scenario } from '../scenario.ts';
import type { Wire } from '../wire.ts';

const channels = ['lifecycle', 'values', 'updates', 'messages', 'tools', 'input', 'tasks', 'custom'];

/** Commands of one thread, and its feed. Commands are numbered, as clients do it. */
class ThreadClient {
  readonly #wire: Wire;
  readonly #thread: string;
  #commands = 0;

  constructor(wire: Wire, thread: string) {
    this.#wire = wire;
    this.#thread = thread;
  }

  send(step: string, method: string, params: unknown): Promise<unknown> {
    const body = { id: ++this.#commands, method, params };
    return this.#wire.call(step, 'POST', `${this.#thread}/commands`, { body });
  }

  /** Records the events from the beginning until this many of them are the last of their runs, and returns them. */
  async feed(step: string, count: number, isLast = isRunEnd): Promise<FeedEvent[]> {
    const events: FeedEvent[] = [];
    const call = { body: { channels } };
    await this.#wire.read('POST', `${this.#thread}/stream/events`, call, ({ data }) => {
      events.push(data as unknown as FeedEvent);
      return events.filter(isLast).length < count;
    });
    const seen = events.map(({ method, params }) => ({
      event: [method, ...params.namespace].join(' '),
      data: params.data,
    }));
    this.#wire.note(step, seen);
    return events;
  }
}

const isCompleted = (event: FeedEvent): boolean =>
  isRunEnd(event) && event.params.data['event'] === 'completed';
const isQuestion = ({ method }: FeedEvent): boolean => method === 'input.requested';
const idOf = ({ params }: FeedEvent): string => String(params.data['interrupt_id']);

export const threadProtocol: Scenario = {
  name: 'thread protocol',
  async run(wire) {
    const chat = new ThreadClient(wire, await newThread(wire));
    await chat.send('chat', 'run.start', { assistant_id: 'chat', input: said('hi') });
    await chat.feed('chat feed', 1);
    const tools = new ThreadClient(wire, await newThread(wire));
    await tools.send('tools', 'run.start', { assistant_id: 'tools', input: said('hi') });
    await tools.feed('tools feed', 1);
    const nested = new ThreadClient(wire, await newThread(wire));
    await nested.send('nested', 'run.start', { assistant_id: 'nested', input: { log: ['in'] } });
    await nested.feed('nested feed', 1);
  },
};

export const threadProtocolInterrupts: Scenario = {
  name: 'thread protocol interrupts',
  async run(wire) {
    const client = new ThreadClient(wire, await newThread(wire));
    await client.send('start', 'run.start', { assistant_id: 'approval', input: { log: ['in'] } });
    const interrupt_id = idOf((await client.feed('asked', 1)).find(isQuestion)!);
    await client.send('respond', 'input.respond', { namespace: [], interrupt_id, response: 'yes' });
    await client.feed('answered', 1, isCompleted);
    await client.send('respond again', 'input.respond', { namespace: [], interrupt_id, response: 'no' });
    await client.send('unknown method', 'run.invent', {});
    await client.send('not supported', 'flow.setCapacity', {});
    await client.send('without an assistant', 'run.start', { input: {} });
    await client.send('tree', 'agent.getTree', {});
    const other = new ThreadClient(wire, await newThread(wire));
    await other.send('other start', 'run.start', { assistant_id: 'approval', input: { log: [] } });
    await other.feed('other asked', 1);
    const unknown = { namespace: [], interrupt_id: '0'.repeat(32), response: 'yes' };
    await other.send('unknown interrupt', 'input.respond', unknown);
  },
};
