/** Responds with 101 and hands the connection over to another protocol. */
import type { Duplex } from 'node:stream'

/** Sends the 101 response. `headers` contains alternating names and values. */
export function switchProtocols(socket: Duplex, headers: readonly string[]): void {
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
  socket.write(`${['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n')}`)
}
