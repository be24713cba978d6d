import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth().authenticate(() => {
      throw new HTTPException(402, { message: 'pay first', headers: { 'x-price': '1', 'content-length': '99' } });
    });