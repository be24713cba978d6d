import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth()
    .authenticate(async (request) => JSON.parse(request.headers.get('x-answer') ?? 'null'))
    .on('*', () => true);