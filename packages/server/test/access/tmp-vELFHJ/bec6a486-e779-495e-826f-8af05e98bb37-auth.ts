import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const other = new Auth();