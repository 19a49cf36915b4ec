/**
 * A front server that simulates responding nodes. It proxies requests to a real server and handles `exec`, `attach`,
 * `portforward`, `log` and ephemeral containers itself, as kubelets would. It has an independent WebSocket
 * implementation, so that the two sides do not share a mistake.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { pairOf } from './identities.ts'
import type { Ending, Served } from './server.ts'

export interface Front {
  readonly config: string
  /** Requests such as `exec web?command=ls`, newest last. */
  readonly asked: string[]
  /** Output of the next `exec`, in place of a program's output. */
  sends: Buffer | undefined
  /** Number of connections to break immediately, starting with the next connection. */
  breaks: number
  /** WebSocket protocol of the next connections. */
  protocol: 'v4.channel.k8s.io' | 'v5.channel.k8s.io'
}

/**
 * Starts the server, which runs until the end of the test. Containers are directories on this machine, and programs run
 * in `directory`.
 */
export async function streamingFront(t: Ending, server: Served, directory: string): Promise<Front> {
  const { certificate: cert, key } = pairOf(server, 'serving')
  const front: Front = {
    config: join(directory, 'front.kubeconfig'),
    asked: [],
    sends: undefined,
    breaks: 0,
    protocol: 'v5.channel.k8s.io',
  }
  const listener = createServer({ cert, key }, (request, response) => {
    passOn(server, front, { request, response }).catch((error) => response.writeHead(500).end(String(error)))
  })
  listener.on('upgrade', (request: IncomingMessage, socket: Duplex) =>
    answerUpgrade(front, { request, socket, directory }),
  )
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    listener.closeAllConnections()
    listener.close()
  })
  const { port } = listener.address() as AddressInfo
  const text = readFileSync(join(server.directory, 'admin.kubeconfig'), 'utf8')
  writeFileSync(front.config, text.replaceAll(server.url, `https://127.0.0.1:${port}`))
  return front
}

interface Passing {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

async function passOn(server: Served, front: Front, { request, response }: Passing): Promise<void> {
  const url = request.url ?? '/'
  const log = /\/pods\/([^/]+)\/log\?(.*)$/.exec(url)
  if (log !== null) {
    const query = new URLSearchParams(log[2])
    front.asked.push(`log ${log[1]}?${decodeURIComponent(String(query))}`)
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.end(`${log[1]}/${query.get('container')}: one\n\u001b[31mred\u001b[0m\u001b]0;title\u0007\n`)
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method = 'GET', headers } = request
  const passed = Object.entries(headers).filter(([name]) => ['accept', 'content-type'].includes(name))
  const raw = Buffer.concat(chunks)
  const answer = await server.client().send(url, {
    method,
    headers: Object.fromEntries(passed.map(([name, value]) => [name, String(value)])),
    ...(raw.length > 0 && { raw }),
  })
  response.writeHead(answer.status, { 'content-type': answer.headers['content-type'] ?? 'application/json' })
  response.end(answer.bytes)
}

interface Upgrading {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly directory: string
}

function answerUpgrade(front: Front, { request, socket, directory }: Upgrading): void {
  const [, pod, action, text] = /\/pods\/([^/]+)\/(\w+)\?(.*)$/.exec(request.url ?? '') ?? []
  const query = new URLSearchParams(text)
  front.asked.push(`${action} ${pod}?${query}`)
  if (pod === 'refusing') {
    const body = JSON.stringify({
      kind: 'Status',
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message: 'pods "refusing" is forbidden: no',
    })
    socket.end(
      `HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    return
  }
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${front.protocol}\r\n\r\n`,
  )
  socket.on('error', () => {})
  if (front.breaks > 0) {
    front.breaks--
    socket.destroy()
    return
  }
  const send = (channel: number, data: Uint8Array | string) =>
    sendMessage(socket, Buffer.concat([Buffer.from([channel]), Buffer.from(data)]))
  if (action === 'portforward') {
    forwardPort(socket, Number(query.get('ports')), send)
    return
  }
  const [program = 'cat', ...args] = query.getAll('command')
  runProgram({ socket, send, front, directory, program, args, stdin: query.get('stdin') === 'true' })
}

type Send = (channel: number, data: Uint8Array | string) => void

interface Program {
  readonly socket: Duplex
  readonly send: Send
  readonly front: Front
  readonly directory: string
  readonly program: string
  readonly args: readonly string[]
  readonly stdin: boolean
}

function runProgram({ socket, send, front, directory, program, args, stdin }: Program): void {
  const sends = front.sends
  if (sends !== undefined && program === 'tar' && args[0] === 'cf') {
    front.sends = undefined
    for (let i = 0; i < sends.length; i += 1000) send(1, sends.subarray(i, i + 1000))
    finish(socket, send, 0)
    return
  }
  const child = spawn(program, args, { cwd: directory, stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
  child.stdout!.on('data', (data: Buffer) => send(1, data))
  child.stderr!.on('data', (data: Buffer) => send(2, data))
  child.on('close', (code) => finish(socket, send, code ?? 1))
  child.on('error', () => finish(socket, send, 126))
  child.stdin?.on('error', () => {})
  onMessages(socket, (message) => {
    if (message[0] === 0) child.stdin?.write(message.subarray(1))
    if (message[0] === 255 && message[1] === 0) child.stdin?.end()
  })
  socket.on('close', () => child.kill())
}

function finish(socket: Duplex, send: Send, code: number): void {
  const status =
    code === 0
      ? { metadata: {}, status: 'Success' }
      : {
          status: 'Failure',
          reason: 'NonZeroExitCode',
          message: `command terminated with non-zero exit code: ${code}`,
          details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
        }
  send(3, JSON.stringify(status))
  socket.end(Buffer.from([0x88, 2, 0x03, 0xe8]))
}

function forwardPort(socket: Duplex, port: number, send: Send): void {
  const number = Buffer.alloc(2)
  number.writeUInt16LE(port)
  send(0, number)
  send(1, number)
  const target = connect(port, '127.0.0.1')
  target.on('data', (data) => send(0, data))
  target.on('error', (error) => send(1, `cannot reach the port: ${error.message}`))
  target.on('close', () => socket.end(Buffer.from([0x88, 2, 0x03, 0xe8])))
  socket.on('close', () => target.destroy())
  onMessages(socket, (message) => {
    if (message[0] === 0) target.write(message.subarray(1))
    if (message[0] === 255) target.end()
  })
}

/** Sends two frames with a ping between them, which is allowed but rare. */
function sendMessage(socket: Duplex, message: Buffer): void {
  if (socket.destroyed) return
  const half = Math.floor(message.length / 2)
  socket.write(frame(0x02, message.subarray(0, half)))
  socket.write(Buffer.from([0x89, 0]))
  socket.write(frame(0x80, message.subarray(half)))
}

function frame(first: number, payload: Buffer): Buffer {
  const head =
    payload.length < 126
      ? Buffer.from([first, payload.length])
      : Buffer.from([first, 126, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, payload])
}

function onMessages(socket: Duplex, take: (message: Buffer) => void): void {
  let buffer: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk])
    for (;;) {
      if (buffer.length < 2) return
      const short = buffer[1]! & 0x7f
      const start = short < 126 ? 2 : short === 126 ? 4 : 10
      if (buffer.length < start + 4) return
      const length = short < 126 ? short : short === 126 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2))
      if (buffer.length < start + 4 + length) return
      const mask = buffer.subarray(start, start + 4)
      const payload = Buffer.from(buffer.subarray(start + 4, start + 4 + length)).map((byte, i) => byte ^ mask[i & 3]!)
      if ((buffer[0]! & 0x0f) === 2) take(Buffer.from(payload))
      buffer = buffer.subarray(start + 4 + length)
    }
  })
}
