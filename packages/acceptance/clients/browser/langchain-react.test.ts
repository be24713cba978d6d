// `useStream` of @langchain/react: the thread protocol v2, with the SDK that the package pins and with the newest one.
import { describeConversationsInBrowser } from './conversations.ts';

for (const transport of ['sse']) {
  const title = `a page with @langchain/react over ${transport}`;
  describeConversationsInBrowser({ title, hook: 'current', transport, keepsLostText: true });
  describeConversationsInBrowser({
    title: `${title}, with the newest SDK`,
    hook: 'current',
    transport,
    newestSdk: true,
  });
}
