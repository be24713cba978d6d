import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth().authenticate(() => {
      const headers = { 'set-cookie': 'session=of-the-service' };
      throw Object.assign(new Error('no such client secret'), { status: 404, headers });
    });