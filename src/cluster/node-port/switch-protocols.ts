/** Answers with 101: from then on the connection speaks another protocol. */
import type { Duplex } from 'node:stream'

/** Headers are names and values in turn. */
export function switchProtocols(socket: Duplex, headers: readonly string[]): void {
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
  socket.write(`${['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n')}`)
}
