// HTTP agents for libraries that send requests themselves. Each connection is checked when it is made, also that of a retry, or
// to a host whose name the library has composed.
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EgressGuard, EgressRules } from './guard.ts';

export interface GuardedAgents {
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
}

interface ConnectionOptions {
  host?: string | null;
  port?: string | number | null;
}

type Connected = (error: Error | null, socket?: Duplex) => void;
type Connect = (options: ConnectionOptions, connected?: Connected) => Duplex | undefined;

/** A method of agents that their types do not declare. */
interface Connecting {
  createConnection: Connect;
}

export const guardedAgents = (
  guard: EgressGuard,
  rules: EgressRules,
  options: AgentOptions = {},
): GuardedAgents => ({
  httpAgent: guardAgent(new HttpAgent(options), 'http', guard, rules),
  httpsAgent: guardAgent(new HttpsAgent(options), 'https', guard, rules),
});

const guardAgent = <A extends HttpAgent>(
  agent: A,
  scheme: 'http' | 'https',
  guard: EgressGuard,
  rules: EgressRules,
): A => {
  const connecting = agent as unknown as Connecting;
  const connect = connecting.createConnection.bind(agent);
  connecting.createConnection = (options, connected) => {
    const { host, port } = options;
    const name = host ?? '';
    try {
      const { lookup } = guard.check(
        `${scheme}://${isIPv6(name) ? `[${name}]` : name}:${port ?? ''}/`,
        rules,
      );
      return connect({ ...options, lookup } as ConnectionOptions, connected);
    } catch (error) {
      // If it were thrown, the request would wait for a connection forever.
      connected?.(error as Error);
      return undefined;
    }
  };
  return agent;
};
