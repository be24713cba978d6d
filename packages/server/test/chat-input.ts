/** The input of a chat graph: one message of a user. */
export const chatInput = (content: string) => ({ messages: [{ role: 'user', content }] });
