// What a service that speaks S3 refuses, as errors of a destination: what it means and what to do, and then what the service said.
import { EgressRefused } from '../../net/guard.ts';
import { DestinationError } from './destination-error.ts';
import { answerOf } from './service-answer.ts';
import { findReason } from './s3-reasons.ts';

interface ServiceError extends Error {
  code?: unknown;
  syscall?: unknown;
  $metadata?: { httpStatusCode?: number; requestId?: string };
  $response?: { headers?: Record<string, string> };
}

const codeShape = /^[A-Za-z][\w.]{0,63}$/;
const regionShape = /^[a-z0-9-]{1,32}$/;
/** Names that libraries give to what has none, or that say nothing by themselves. */
const vague = new Set([
  'Error',
  'Unknown',
  'UnknownError',
  'TypeError',
  'AggregateError',
  'S3ServiceException',
  'NotFound',
]);

/** A DestinationError stays as it is. `secrets` are those that the request was made with: they are never shown. */
export const toDestinationError = (error: unknown, secrets: readonly string[] = []): DestinationError => {
  if (error instanceof DestinationError) return error;
  const thrown = error as ServiceError;
  const refused = findRefusal(thrown);
  if (refused !== undefined)
    return new DestinationError(`The address ${refused.message}. See SVC_EGRESS_ALLOW.`, {
      code: 'EndpointRefused',
      isFinal: true,
    });
  const status = thrown.$metadata?.httpStatusCode;
  const code = codeOf(thrown, status);
  const { reason, isFinal } = findReason(code, status);
  return new DestinationError(reason + regionHint(thrown) + answerOf(thrown, secrets), {
    code,
    isFinal,
    cause: traceOf(thrown, code, status),
  });
};

/** The guard's own word, as it comes out of a library: as it is, or as the cause of something else. */
const findRefusal = (error: unknown, depth = 0): EgressRefused | undefined => {
  if (error instanceof EgressRefused) return error;
  const isDeeper = error instanceof Error && error.cause !== undefined && depth < 5;
  return isDeeper ? findRefusal(error.cause, depth + 1) : undefined;
};

const codeOf = ({ name, code }: ServiceError, status: number | undefined): string => {
  if (name === 'TimeoutError') return typeof code === 'string' && codeShape.test(code) ? code : 'Timeout';
  if (status === undefined && typeof code === 'string' && codeShape.test(code)) return code;
  if (!vague.has(name) && codeShape.test(name)) return name;
  if (status === 301) return 'PermanentRedirect';
  if (status === 403) return 'AccessDenied';
  if (status === 404) return 'NoSuchBucket';
  return status === undefined ? 'Unknown' : `Http${status}`;
};

const regionHint = ({ $response, $metadata }: ServiceError): string => {
  if ($metadata?.httpStatusCode !== 301 && $metadata?.httpStatusCode !== 400) return '';
  const region = $response?.headers?.['x-amz-bucket-region'];
  return region !== undefined && regionShape.test(region) ? ` The bucket is in ${region}.` : '';
};

/** For the log: nothing of what was sent or answered. */
const traceOf = ({ syscall, $metadata }: ServiceError, code: string, status: number | undefined): Error => {
  const request = $metadata?.requestId;
  const facts = [
    status === undefined ? undefined : `status ${status}`,
    typeof syscall === 'string' && codeShape.test(syscall) ? syscall : undefined,
    typeof request === 'string' && /^[\w-]{1,128}$/.test(request) ? `request ${request}` : undefined,
  ];
  return new Error([code, ...facts.filter((fact) => fact !== undefined)].join(', '));
};

/** The answer to If-None-Match where there is something. */
export const isConflict = (error: unknown): boolean =>
  (error as ServiceError).$metadata?.httpStatusCode === 412 || (error as Error).name === 'PreconditionFailed';
