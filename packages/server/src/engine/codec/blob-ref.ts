// A stored value is a reference (a short text) and the blobs that it reaches (blob.ts). References:
//   =<json>         the value itself
//   #<uuid>         the value is this blob
//   [<uuid>,<uuid>  a list of one or two elements, each a blob

/** The blobs that the reference names. Blobs that these need are in their `refs`. */
export const hashesOf = (ref: string): string[] => {
  if (ref.startsWith('#')) return [ref.slice(1)];
  return ref.startsWith('[') ? ref.slice(1).split(',') : [];
};
