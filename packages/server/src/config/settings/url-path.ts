/** A path of a URL: 1 to 16 segments of characters that need no encoding, without a slash at the end. */
export const urlPath = /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*){1,16}$/;
