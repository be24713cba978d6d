/** When more bytes wait for the client of a stream, sources that can wait should wait. */
export const highWaterBytes = 65_536;
