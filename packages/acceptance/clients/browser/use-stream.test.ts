// `useStream` of @langchain/langgraph-sdk/react: run streams.
import { describeConversationsInBrowser } from './conversations.ts';

describeConversationsInBrowser({ title: 'a page with useStream', hook: 'classic', transport: 'sse' });
