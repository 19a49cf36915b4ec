/** The way to a server with one client certificate, in the HTTP that the server speaks. */
import type { TransportRequest, TransportResponse } from '../requests/transport.ts'

/** The headers may have several values. */
export interface WireRequest extends Omit<TransportRequest, 'headers'> {
  readonly headers: { readonly [name: string]: string | readonly string[] }
}

export interface Wire {
  send(request: WireRequest): Promise<TransportResponse>
  /** Takes no further requests; those under way go on. */
  retire(): void
  /** Cuts off what is under way. */
  destroy(): void
}
