// `useStream` of @langchain/react: the thread protocol v2, with the SDK that the package pins and with the newest one.
import { describeConversationsInBrowser } from './conversations.ts';

const title = 'a page with @langchain/react over';

describeConversationsInBrowser({
  title: `${title} sse`,
  hook: 'current',
  transport: 'sse',
  keepsLostText: true,
});

// Over WebSockets with one SDK, to save time: both passed when this was written.
for (const transport of ['sse', 'websocket'] as const)
  describeConversationsInBrowser({
    title: `${title} ${transport}, with the newest SDK`,
    hook: 'current',
    transport,
    newestSdk: true,
  });
