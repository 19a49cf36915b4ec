/** A protocol violation, which ends the connection. */
export class SpdyError extends Error {}
