/** The error for a protocol violation. It ends the connection. */
export class SpdyError extends Error {}
