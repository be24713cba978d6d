import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
throw new Error('no database');