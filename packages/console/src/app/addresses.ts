// Where this page and the API are. The entry is in `<path of the console>/assets/`, also below a prefix of the server.
const entry: string = import.meta.url;

/** `/console`, or `/agents/console` where the server has the prefix `/agents`. */
export const consolePath = new URL('..', entry).pathname.replace(/\/$/, '');

/** The address of the API, without a slash at the end. */
export const apiUrl = new URL('../..', entry).href.replace(/\/$/, '');
