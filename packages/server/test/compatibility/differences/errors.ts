import type { ListedDifference } from './difference.ts';

export const errors: readonly ListedDifference[] = [
  {
    behaviour:
      'Errors are JSON: `{detail, message, code, request_id}`, [as documented](threads-and-runs.md#errors).',
    reason: 'Clients read `message` or `detail`, and programs `code`. The id finds the request in the log.',
    where: { '*': ['~ **.problem', '+ **.problem.*', '- **.problem.*'] },
  },
  {
    behaviour:
      'JSON responses have the content type `application/json`, also errors and the results of waits.',
    reason: 'Clients and proxies recognize the body as JSON.',
    where: { '*': ['~ **.headers.content-type = "application/json"'] },
  },
  {
    behaviour:
      'The text of an error begins with the text of the stock server. Then it names the object and says what to do.',
    reason: 'A reader of the log can find the object.',
    where: { '*': ['> **.error'] },
  },
  {
    behaviour:
      'An object that is not visible to the caller gets the same error on every route, `Thread not found: …` or `Run not found: …`, whether it exists or not.',
    reason:
      'One cause has one text. The text is the same if the object does not exist and if it belongs to another user.',
    where: {
      threads: ['~ * deleted.error', '~ * of deleted.error'],
      errors: ['~ run of unknown thread.error', '~ runs of unknown thread.error'],
      auth: ['~ bob: *.error', '~ foreign *.error'],
    },
  },
  {
    behaviour: 'The error for an assistant that does not exist lists the graphs.',
    reason: 'Usually, the client has misspelled the name of a graph.',
    where: { errors: ['~ * an unknown graph.error', '~ run of an unknown assistant.error'] },
  },
  {
    behaviour: 'The error for a request that an auth handler refuses has a text.',
    reason: 'It says that the caller is authenticated, but not allowed to do this.',
    where: { auth: ['~ refused by a handler.error', '~ ada: delete assistant.error'] },
  },
  {
    behaviour:
      'A request with invalid fields gets 422, which names the field. A body that is not JSON gets 400 with the place.',
    reason: '422 means that the request was parsed, but is not valid.',
    where: {
      '*': ['~ **.status = 422'],
      assistants: ['~ create without graph.error'],
      threads: ['~ get what is no id.error'],
      supersteps: ['~ create without graph.error'],
      store: ['~ put *.error'],
      errors: [
        '~ run without assistant.error',
        '~ run with a wrong mode.error',
        '~ no JSON.error',
        '~ a list as body.error',
        '~ a thread id that is none.error',
      ],
    },
  },
  {
    behaviour:
      'A number that a double cannot hold, such as 9007199254740993, is refused with 422 in every request, also in `metadata`: send it as a text.',
    reason:
      'Graphs and clients in JavaScript would get another number. Numbers with more digits are sent as strings.',
    where: {},
  },
  {
    behaviour: 'Unknown keys in a request are refused with 422, except those that stock clients send.',
    reason: 'Otherwise nobody would notice a misspelled key. Keys that stock clients send are accepted.',
    where: { errors: ['* run with an unknown key.**'] },
  },
  {
    behaviour: 'A run on a thread that does not exist gets 404, unless `if_not_exists` creates it.',
    reason: 'The client can create the thread, or set `if_not_exists`.',
    where: { errors: ['~ run on an unknown thread.*'] },
  },
  {
    behaviour: 'The error for an unknown path is `No route has this path.`',
    reason: 'Other errors with 404 are about objects that do not exist.',
    where: { errors: ['~ unknown route.error'] },
  },
  {
    behaviour: 'A body with the content type `text/plain` is refused with 415.',
    reason: 'Any web page can send such a body to any server without a preflight request.',
    where: { system: ['* thread as text.**'] },
  },
];
