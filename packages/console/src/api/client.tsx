import { useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query';
import { createContext, useContext, type ReactNode } from 'react';
import type { Client } from '@svc/sdk';

const ClientContext = createContext<Client | undefined>(undefined);

export const ClientProvider = ({ client, children }: { client: Client; children: ReactNode }): ReactNode => (
  <ClientContext value={client}>{children}</ClientContext>
);

/** The client of the server that has served this page. */
export const useClient = (): Client => {
  const client = useContext(ClientContext);
  if (!client) throw new Error('useClient() is only available below ClientProvider');
  return client;
};

interface Call {
  signal: AbortSignal;
}

/** Options of a query, with `read` in place of `queryFn`. */
export type ReadOptions<From, Data> = Omit<UseQueryOptions<Data>, 'queryFn'> & {
  read: (client: From, call: Call) => Promise<Data>;
};

/** Reads something of the deployment API. */
export const useServerQuery = <Data,>({
  read,
  ...options
}: ReadOptions<Client, Data>): UseQueryResult<Data> => {
  const client = useClient();
  return useQuery({ ...options, queryFn: ({ signal }) => read(client, { signal }) });
};
