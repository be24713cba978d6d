// What a page needs for WebSockets when its users have bearer tokens; docs/thread-protocol.md#tickets links to it.
import { apiUrl, defaultHeaders } from './address.ts';

/** Sends the headers with requests. The client refuses `defaultHeaders` for WebSockets, which cannot send them. */
export const authorizedFetch: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(defaultHeaders)) headers.set(name, value);
  return fetch(url, { ...init, headers });
};

const newTicket = async (): Promise<string> => {
  const response = await authorizedFetch(`${apiUrl}/auth/tickets`, { method: 'POST' });
  if (!response.ok) throw new Error(`No ticket: ${response.status}`);
  return ((await response.json()) as { ticket: string }).ticket;
};

/** Gets a ticket, then connects. The client expects a WebSocket at once, and a ticket is accepted only once and within 60 s. */
class TicketSocket extends EventTarget {
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(url: string) {
    super();
    newTicket().then(
      (ticket) => this.#connect(`${url}?ticket=${ticket}`),
      () => this.close('error'),
    );
  }

  get readyState(): number {
    return this.#socket?.readyState ?? (this.#isClosed ? WebSocket.CLOSED : WebSocket.CONNECTING);
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  close(event = 'close'): void {
    this.#isClosed = true;
    if (this.#socket) this.#socket.close();
    else this.dispatchEvent(new Event(event));
  }

  #connect(url: string): void {
    if (this.#isClosed) return;
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onopen = socket.onerror = ({ type }) => this.dispatchEvent(new Event(type));
    socket.onmessage = ({ data }) => this.dispatchEvent(new MessageEvent('message', { data }));
    socket.onclose = ({ code, reason }) => this.dispatchEvent(new CloseEvent('close', { code, reason }));
  }
}

export const webSocketFactory = (url: string): WebSocket => new TicketSocket(url) as EventTarget as WebSocket;
