import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth()
    .authenticate((request) => ({ identity: request.headers.get('authorization') ?? '' }))
    .on('*', ({ user }) => user.identity === 'allowed');