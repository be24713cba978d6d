/**
 * The header `traceparent` of requests to a receiver of OTLP. The receiver may be a server that sends its spans too, or this one: without it,
 * each request would be a span.
 */
export const unsampled = '00-00000000000000000000000000000001-0000000000000001-00';
