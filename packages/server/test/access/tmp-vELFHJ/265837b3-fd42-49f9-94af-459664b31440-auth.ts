import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth().authenticate(() => 'a').on('threads:serach' as '*', () => true);