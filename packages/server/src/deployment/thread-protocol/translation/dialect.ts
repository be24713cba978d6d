// Stock servers send some events in two forms: the server for Python graphs, and the one for JavaScript graphs. The clients of each language read
// the form of their own server, so the client decides which form it gets.
//
//                javascript                                python
//   messages     namespace of the task                     namespace of its graph, and the id of the message in every event
//   tools        namespace of the task, arguments as text  namespace of its graph, arguments as an object
//   lifecycle    each task                                 subgraphs alone
//   custom       `{payload}`, or what has a name           what the node has written

export type Dialect = 'javascript' | 'python';

/** The Python client names itself in its requests. Its WebSockets have the header of the library that opens them. */
const python = /^(langgraph-sdk-py\/|Python\/\S+ websockets\/)/;

export const dialectOf = (userAgent: string | undefined): Dialect =>
  userAgent !== undefined && python.test(userAgent) ? 'python' : 'javascript';
