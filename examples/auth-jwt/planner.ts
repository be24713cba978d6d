// Lists the appointments of the user's calendar, which it reads from another service with a token of the user.
import { AIMessage } from '@langchain/core/messages';
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';

const calendarUrl = process.env['CALENDAR_URL'] ?? 'http://localhost:3000/calendar';

interface Appointment {
  at: string;
  what: string;
}

/** The user that `authenticate` returned for the creator of the run. */
interface User {
  identity: string;
  calendar_token?: string;
}

const State = Annotation.Root({ ...MessagesAnnotation.spec, appointments: Annotation<Appointment[]> });

const userOf = ({ configurable }: LangGraphRunnableConfig): User => configurable?.['svc_auth_user'] as User;

/** The token is taken from the config and must not be written to the state, which is stored and visible to clients. */
const look = async (_: typeof State.State, config: LangGraphRunnableConfig) => {
  const { identity, calendar_token } = userOf(config);
  if (calendar_token === undefined) throw new Error(`${identity} has not connected a calendar`);
  config.writer?.(`Looking into the calendar of ${identity} …`);
  const response = await fetch(calendarUrl, {
    headers: { authorization: `Bearer ${calendar_token}` },
    signal: config.signal ?? null,
  });
  if (!response.ok) throw new Error(`The calendar answered ${response.status}`);
  return { appointments: (await response.json()) as Appointment[] };
};

const answer = ({ appointments }: typeof State.State) => ({
  messages: [
    new AIMessage(
      appointments.length === 0
        ? 'There is nothing in your calendar today.'
        : `Today: ${appointments.map(({ at, what }) => `${at} ${what}`).join(', ')}.`,
    ),
  ],
});

export const planner = new StateGraph(State)
  .addNode('look', look)
  .addNode('answer', answer)
  .addEdge(START, 'look')
  .addEdge('look', 'answer')
  .addEdge('answer', END)
  .compile();
