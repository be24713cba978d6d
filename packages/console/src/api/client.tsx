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
