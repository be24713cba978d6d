import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
let calls = 0;
    export const auth = new Auth().authenticate((request) => {
      calls += 1;
      if (request.headers.get('authorization') === 'bad') throw new HTTPException(401, { message: String(calls) });
      return 'calls-' + calls;
    }).on('*', () => true);