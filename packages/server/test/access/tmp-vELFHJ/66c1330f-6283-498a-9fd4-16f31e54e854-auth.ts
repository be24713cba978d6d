import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
export const auth = new Auth()
      .authenticate(() => new Promise<string>(() => undefined)).on('*', () => true);