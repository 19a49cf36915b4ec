/** The error for a protocol violation. The connection is closed after this error. */
export class SpdyError extends Error {}
