const form = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True for the text of a UUID in the form that the database accepts and writes, in any case. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && form.test(value);
