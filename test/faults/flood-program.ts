/**
 * Floods a server from a separate thread, so that the flood does not disturb the measurements of the test. Opens the
 * given number of connections, each of which sends the next create as soon as it has received a response. Posts the
 * message `flooding` as soon as every connection has received a response. Posts the results when the test stops the
 * flood.
 */
import { connect } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

export interface Flood {
  readonly port: number
  readonly path: string
  readonly token: string
  readonly connections: number
}

/** Responses by status code, the number of rejections with Retry-After, and the number of broken connections. */
export interface FloodOutcome {
  readonly codes: { [code: string]: number }
  retryAfter: number
  broken: number
}

const { port, path, token, connections } = workerData as Flood
const outcome: FloodOutcome = { codes: {}, retryAfter: 0, broken: 0 }
let createdCount = 0
let ending = false
let answered = 0

function request(): string {
  const body = JSON.stringify({ metadata: { name: `flood-${createdCount++}` }, data: { text: 'x'.repeat(1000) } })
  const headers = [`Host: flood`, `Authorization: Bearer ${token}`, 'Content-Type: application/json']
  return `POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function open(): void {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  let received = ''
  let isAnswered = false
  socket.on('secureConnect', () => socket.write(request()))
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    const head = received.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < head + 4 + length) return
    const code = received.slice(9, 12)
    outcome.codes[code] = (outcome.codes[code] ?? 0) + 1
    if (code === '429' && /\r\nretry-after: \d+\r\n/i.test(received.slice(0, head + 2))) outcome.retryAfter++
    received = ''
    if (!isAnswered && ++answered === connections) parentPort!.postMessage('flooding')
    isAnswered = true
    if (!ending) socket.write(request())
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    if (ending) return
    outcome.broken++
    open()
  })
}

for (let i = 0; i < connections; i++) open()
parentPort!.on('message', () => {
  ending = true
  parentPort!.postMessage(outcome)
  parentPort!.close()
  process.exit(0)
})
