/** Declares the interface between a transport and its connections. HTTP/1.1 and HTTP/2 each have an implementation. */
import type { TransportRequest, TransportResponse } from '../requests/transport.ts'

/** A request whose headers may have multiple values. */
export interface WireRequest extends Omit<TransportRequest, 'headers'> {
  readonly headers: { readonly [name: string]: string | readonly string[] }
}

export interface Wire {
  send(request: WireRequest): Promise<TransportResponse>
  /** Rejects new requests. Active requests continue. */
  retire(): void
  /** Aborts the active requests. */
  destroy(): void
}
