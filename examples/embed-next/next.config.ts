// The server starts processes from its own files, so it must not be bundled.
export default {
  serverExternalPackages: ['@svc/server', '@langchain/core', '@langchain/langgraph'],
};
