import type { Run } from '@svc/sdk';
import { timeText } from '../ui/time-text.ts';

/** The message of the server about a pending run, with a local time. */
export const waitingText = ({ message, until }: NonNullable<Run['waiting_for']>): string =>
  until === undefined ? message : message.replace(until, timeText(until));
