import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = { authenticate: () => 1 };