import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth()
      .authenticate(() => { throw new Error('secret of the handler'); }).on('*', () => true);