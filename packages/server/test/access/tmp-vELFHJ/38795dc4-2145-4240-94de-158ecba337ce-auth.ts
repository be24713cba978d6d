import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth().authenticate(async (request) =>
      ({ identity: [request.method, new URL(request.url).pathname, request.headers.get('x-one'), (await request.text()).length].join(' ') })).on('*', () => true);