/** The other side does not keep to the protocol; the connection ends. */
export class SpdyError extends Error {}
